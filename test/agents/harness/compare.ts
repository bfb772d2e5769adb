import type { Expectation, ScriptedCall } from './expectation.ts';
import type { Exchange } from './tap.ts';
import { replyValues } from './token-fields.ts';

/** What is read of a ledger (protocol section 7). */
export interface Ledger {
  readonly complete: boolean;
  readonly manifest: {
    readonly records: readonly {
      readonly model_call_id: string;
      readonly parent_call_id: string | null;
      readonly response_id: string;
    }[];
    readonly failures: readonly { readonly model_call_id: string; readonly reason: string }[];
    readonly pending_call_ids: readonly string[];
  };
  readonly refused: readonly { readonly model_call_id: string; readonly code: string }[];
  readonly why_root: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Counts {
  readonly calls: number;
  readonly continuations: number;
  readonly rootCalls: number;
  readonly wrongParents: number;
  readonly pending: number;
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
}

/** Compares a ledger and what the agent sent with what a scenario wrote down. */
export function compareWithExpected(
  calls: readonly ScriptedCall[],
  ledger: Ledger,
  exchanges: readonly Exchange[],
): Comparison {
  const { records, failures, pending_call_ids: pending } = ledger.manifest;
  const names = new Map(records.map((record) => [record.model_call_id, record.response_id]));
  const nameOf = (callId: unknown) => names.get(String(callId)) ?? String(callId);
  const deviations: string[] = [];
  const roots: RootRow[] = [];
  let wrongParents = 0;
  for (const call of calls) {
    const found = records.filter((record) => record.response_id === call.id);
    const [record] = found;
    if (record === undefined || found.length > 1) {
      deviations.push(`${call.id}: ${found.length} records`);
      continue;
    }
    const parent = record.parent_call_id === null ? null : nameOf(record.parent_call_id);
    const why = ledger.why_root[record.model_call_id];
    if (parent !== expectedParent(call.expect)) {
      wrongParents += 1;
      deviations.push(
        `${call.id}: parent ${parent ?? 'none'}, expected ${expectedParent(call.expect) ?? 'none'}; ${JSON.stringify(why ?? {})}`,
      );
    }
    if (parent === null) roots.push({ call: call.id, ...describeRoot(why ?? {}, nameOf), rewrite: rewriteOf(call) });
    if ('root' in call.expect) deviations.push(...rootDeviations(call.id, call.expect.root, why ?? {}, nameOf));
    deviations.push(...requestDeviations(call, exchanges));
  }
  const known = new Set(calls.map(({ id }) => id));
  for (const { response_id } of records)
    if (!known.has(response_id)) deviations.push(`${response_id}: nobody expected this call`);
  if (pending.length > 0) deviations.push(`${pending.length} pending calls`);
  for (const { model_call_id, reason } of failures) deviations.push(`failure of ${nameOf(model_call_id)}: ${reason}`);
  const rootCalls = records.filter((record) => record.parent_call_id === null).length;
  return {
    counts: {
      calls: records.length,
      continuations: records.length - rootCalls,
      rootCalls,
      wrongParents,
      pending: pending.length,
      failures: failures.length,
    },
    deviations,
    roots,
  };
}

function expectedParent(expect: Expectation): string | null {
  return 'parent' in expect ? expect.parent : null;
}

function rewriteOf({ expect }: ScriptedCall): string | null {
  return 'root' in expect ? (expect.root.rewrite ?? null) : null;
}

type WhyRoot = Readonly<Record<string, unknown>>;

function rootDeviations(
  id: string,
  expected: Extract<Expectation, { root: unknown }>['root'],
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

/** The request that was answered with the completion of this id must hold, and must not hold, what was written down. */
function requestDeviations(call: ScriptedCall, exchanges: readonly Exchange[]): string[] {
  const answered = exchanges.filter(
    ({ reply }) => reply.includes(JSON.stringify(call.id)) && envelopeIds(reply).has(call.id),
  );
  const [exchange] = answered;
  if (exchange === undefined) return [`${call.id}: no reply with this id went to the agent`];
  const holds = (text: string) => exchange.body.includes(JSON.stringify(text).slice(1, -1));
  return [
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
