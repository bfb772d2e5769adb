import type { ScriptedCall, WhyExpectation } from './expectation.ts';
import { type Fate, fatesOf, holdsTurn, isWithoutTurn, type Schema } from './generations.ts';
import type { Exchange } from './tap.ts';
import { replyValues } from './token-fields.ts';

/** What is read of a ledger (protocol sections 7 and 13). */
export interface Ledger {
  readonly complete: boolean;
  readonly manifest: {
    readonly records: readonly {
      readonly model_call_id: string;
      readonly parent_call_id: string | null;
      readonly response_id: string;
    }[];
    readonly failures: readonly { readonly model_call_id: string; readonly reason: string }[];
    readonly pending_call_ids?: readonly string[];
  };
  /** Schema 2, whose manifest has no place for it. */
  readonly pending_call_ids?: readonly string[];
  readonly refused: readonly { readonly model_call_id: string; readonly code: string }[];
  readonly why_root: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Calls of a ledger without a record and a failure row. */
export function pendingOf(ledger: Ledger): readonly string[] {
  return ledger.manifest.pending_call_ids ?? ledger.pending_call_ids ?? [];
}

export interface Counts {
  readonly calls: number;
  readonly continuations: number;
  readonly rootCalls: number;
  readonly wrongParents: number;
  readonly pending: number;
  /** Without those of unresolved calls. */
  readonly failures: number;
}

/** A root as the table of docs/agents.md shows it. */
export interface RootRow {
  readonly call: string;
  /** Cause, nearest call and part, in words that are the same in every run. */
  readonly why: string;
  /** Given where the client changed its history on an ordinary turn. */
  readonly rewrite: string | null;
}

export interface Comparison {
  readonly counts: Counts;
  /** In words; empty where all is as it was written down. */
  readonly deviations: string[];
  readonly roots: readonly RootRow[];
  /** Schema 2: calls that were answered without a record, in the order of the scenario. */
  readonly unresolved: readonly string[];
}

const UNRESOLVED = 'unresolved_parent';

/** Compares a ledger and what the agent sent with what a scenario wrote down. */
export function compareWithExpected(
  calls: readonly ScriptedCall[],
  schema: Schema,
  ledger: Ledger,
  exchanges: readonly Exchange[],
): Comparison {
  const { records, failures } = ledger.manifest;
  const pending = pendingOf(ledger);
  const fates = fatesOf(calls, schema);
  const names = new Map(records.map((record) => [record.model_call_id, record.response_id]));
  for (const { id } of calls) for (const exchange of answersOf(id, exchanges)) names.set(callIdOf(exchange), id);
  const nameOf = (callId: unknown) => names.get(String(callId)) ?? String(callId);
  const unresolvedRows = failures.filter(({ reason }) => reason === UNRESOLVED).map((row) => nameOf(row.model_call_id));
  const deviations: string[] = [];
  const roots: RootRow[] = [];
  const unresolved: string[] = [];
  let wrongParents = 0;
  for (const call of calls) {
    const fate = fates.get(call.id) as Fate;
    const found = records.filter((record) => record.response_id === call.id);
    deviations.push(...requestDeviations(call, exchanges));
    if (fate.kind === 'unresolved') {
      const rows = unresolvedRows.filter((name) => name === call.id).length;
      if (rows > 0) unresolved.push(call.id);
      if (found.length === 0 && rows === 1) continue;
      wrongParents += found.length;
      deviations.push(`${call.id}: ${found.length} records and ${rows} rows ${UNRESOLVED}, 0 and 1 expected`);
      continue;
    }
    const [record] = found;
    if (record === undefined || found.length > 1) {
      deviations.push(`${call.id}: ${found.length} records`);
      continue;
    }
    const parent = record.parent_call_id === null ? null : nameOf(record.parent_call_id);
    const expected = fate.kind === 'continues' ? fate.parent : null;
    const why = ledger.why_root[record.model_call_id];
    if (parent !== expected) {
      wrongParents += 1;
      deviations.push(
        `${call.id}: parent ${parent ?? 'none'}, expected ${expected ?? 'none'}; ${JSON.stringify(why ?? {})}`,
      );
    }
    if (parent === null) roots.push({ call: call.id, ...describeRoot(why ?? {}, nameOf), rewrite: rewriteOf(call) });
    if (fate.kind === 'root') deviations.push(...rootDeviations(call.id, fate.why, why ?? {}, nameOf));
  }
  const known = new Set(calls.map(({ id }) => id));
  for (const { response_id } of records)
    if (!known.has(response_id)) deviations.push(`${response_id}: nobody expected this call`);
  if (pending.length > 0) deviations.push(`${pending.length} pending calls`);
  for (const { model_call_id, reason } of failures)
    if (reason !== UNRESOLVED || fates.get(nameOf(model_call_id))?.kind !== 'unresolved')
      deviations.push(`failure of ${nameOf(model_call_id)}: ${reason}`);
  const rootCalls = records.filter((record) => record.parent_call_id === null).length;
  return {
    counts: {
      calls: records.length + unresolvedRows.length,
      continuations: records.length - rootCalls,
      rootCalls,
      wrongParents,
      pending: pending.length,
      failures: failures.length - unresolved.length,
    },
    deviations,
    roots,
    unresolved,
  };
}

function rewriteOf({ expect }: ScriptedCall): string | null {
  return 'root' in expect ? (expect.root.rewrite ?? null) : null;
}

type WhyRoot = Readonly<Record<string, unknown>>;

function rootDeviations(
  id: string,
  expected: WhyExpectation,
  why: WhyRoot,
  nameOf: (callId: unknown) => string,
): string[] {
  const wanted = { cause: expected.cause, ...expected.detail };
  const wrong = Object.entries(wanted)
    .filter(([key, value]) => JSON.stringify(why[key]) !== JSON.stringify(value))
    .map(([key, value]) => `${id}: why_root.${key} is ${JSON.stringify(why[key])}, expected ${JSON.stringify(value)}`);
  if (expected.nearest !== undefined && nameOf(why.model_call_id) !== expected.nearest)
    wrong.push(`${id}: why_root names ${nameOf(why.model_call_id)}, expected ${expected.nearest}`);
  return wrong.length === 0 ? [] : [...wrong, `  ${JSON.stringify(why)}`];
}

/** The replies that bore the completion of this id. */
function answersOf(id: string, exchanges: readonly Exchange[]): readonly Exchange[] {
  return exchanges.filter(({ reply }) => reply.includes(JSON.stringify(id)) && envelopeIds(reply).has(id));
}

/** The id under which the ledger knows the call of an exchange. */
function callIdOf({ replyHeaders }: Exchange): string {
  return String(replyHeaders['x-request-id']);
}

/** The request that was answered with the completion of this id must hold, and must not hold, what was written down. */
function requestDeviations(call: ScriptedCall, exchanges: readonly Exchange[]): string[] {
  const [exchange] = answersOf(call.id, exchanges);
  if (exchange === undefined) return [`${call.id}: no reply with this id went to the agent`];
  const holds = (text: string) => exchange.body.includes(JSON.stringify(text).slice(1, -1));
  const isWrong = holdsTurn(exchange.body) === isWithoutTurn(call);
  return [
    ...(isWrong ? [`${call.id}: the request holds ${isWithoutTurn(call) ? 'a' : 'no'} turn of the model`] : []),
    ...(call.sees ?? [])
      .filter((text) => !holds(text))
      .map((text) => `${call.id}: the request lacks ${JSON.stringify(text)}`),
    ...(call.lacks ?? []).filter(holds).map((text) => `${call.id}: the request holds ${JSON.stringify(text)}`),
  ];
}

function envelopeIds(reply: string): Set<unknown> {
  const envelopes = replyValues(reply) as { id?: unknown; response?: { id?: unknown }; message?: { id?: unknown } }[];
  return new Set(envelopes.flatMap(({ id, response, message }) => [id, response?.id, message?.id]));
}

function describeRoot(why: WhyRoot, nameOf: (callId: unknown) => string): { why: string } {
  const nearest = why.model_call_id === undefined ? '' : ` from ${nameOf(why.model_call_id)}`;
  switch (why.cause) {
    case 'first_call':
      return { why: 'first call' };
    case 'history_differs': {
      const named = Array.isArray(why.arguments) ? ` (${why.arguments.join(', ')})` : '';
      const { part } = why;
      const index = part === 'same_prompt' ? '' : ` at item ${String(why.index)} (${String(why.role)})`;
      return { why: `differs${nearest}${index}: ${String(part).replaceAll('_', ' ')}${named}` };
    }
    case 'render_differs':
      return { why: `other ${(why.keys as string[]).join(', ')}${nearest}` };
    case 'suffix_role':
      return { why: `a ${String(why.role)} message after${nearest.replace(' from', '')}` };
    default:
      return { why: String(why.cause) };
  }
}
