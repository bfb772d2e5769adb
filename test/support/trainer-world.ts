import type { CallRecordV3 } from '../../src/protocol/wire/ledger.ts';
import {
  buildRollout,
  DirectCapture,
  MemoryStagedStore,
  parseHarnessResult,
  type RolloutOutcome,
  readLedgerView,
  returnedHistory,
  type SelectionPolicy,
} from '../../src/trainer/index.ts';

/** One call of a made-up attempt. Tokens and items have defaults that tell calls apart. */
export interface WorldCall {
  readonly id: string;
  readonly parent?: string;
  readonly prompt?: readonly number[];
  readonly generated?: readonly number[];
  readonly logprobs?: readonly number[];
  readonly output?: readonly unknown[];
  readonly responseId?: string;
  readonly status?: string | null;
  readonly finish?: string | null;
  readonly weight?: number;
  readonly extras?: unknown;
}

type Json = { [key: string]: unknown };

/** A ledger and staged records as the JSON that a trainer would read, free to be tampered with. */
export interface World {
  readonly ledger: Json & {
    attempt: string;
    manifest: Json & {
      records: (Json & CallRecordV3)[];
      failures: unknown[];
      attempted_call_ids: string[];
      pending_call_ids: string[];
    };
  };
  /** Staging key -> record. */
  readonly staged: Map<string, Json>;
  /** Items that a call answered with. */
  items(callId: string): readonly unknown[];
}

/** Reasoning and a message with ids of their own, as a Responses reply has them. */
export function answer(callId: string): unknown[] {
  return [
    { type: 'reasoning', id: `rs_${callId}`, summary: [{ type: 'summary_text', text: `thought ${callId}` }] },
    message(`answer ${callId}`, `msg_${callId}`),
  ];
}

export function message(text: string, id?: string): unknown {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', role: 'assistant', status: 'completed', ...(id === undefined ? {} : { id }), content };
}

/** Calls named 1, 2, ... with the parents of the table in protocol section 11: `-` is a root. Tokens as in its example of a fork. */
export function callsOf(parents: string): WorldCall[] {
  return parents.split(' ').map((parent, at) => ({
    id: String(at + 1),
    ...(parent === '-' ? {} : { parent }),
    prompt: [10 * (at + 1), 10 * (at + 1) + 1],
    generated: [1001 + at],
  }));
}

export function buildWorld(calls: readonly WorldCall[], attempt = 'group_g0'): World {
  const capture = new DirectCapture(attempt);
  const records = new Map<string, CallRecordV3>();
  const outputs = new Map<string, readonly unknown[]>();
  const texts = new Map<string, Json>();
  const put = capture.staged.put.bind(capture.staged);
  capture.staged.put = (key, text) => {
    texts.set(key, JSON.parse(text) as Json);
    put(key, text);
  };
  for (const [at, call] of calls.entries()) {
    const generated = call.generated ?? [1000 + at];
    const output = call.output ?? answer(call.id);
    outputs.set(call.id, output);
    const record = capture.call({
      callId: call.id,
      parent: call.parent === undefined ? null : (records.get(call.parent) as CallRecordV3),
      newPromptTokens: call.prompt ?? [2 * at, 2 * at + 1],
      generatedTokens: generated,
      logprobs: call.logprobs ?? generated.map(() => -0.25),
      weightVersion: call.weight ?? 7,
      output,
      responseId: call.responseId,
      status: call.status,
      finishReason: call.finish,
      extras: call.extras,
    });
    records.set(call.id, record);
  }
  const ids = calls.map((call) => call.id);
  const manifest = {
    schema_version: 3,
    capture_key: attempt,
    records: JSON.parse(JSON.stringify([...records.values()])) as (Json & CallRecordV3)[],
    failures: [],
    attempted_call_ids: ids,
    pending_call_ids: [],
  };
  const whyRoot = calls.filter((call) => call.parent === undefined).map((call) => [call.id, { cause: 'first_call' }]);
  return {
    ledger: { attempt, state: 'closed', complete: true, manifest, refused: [], why_root: Object.fromEntries(whyRoot) },
    staged: texts,
    items: (callId) => outputs.get(callId) as readonly unknown[],
  };
}

/** The result of a harness that returns what these calls answered, in one response. */
export function resultOf(world: World, callIds: readonly string[], extra: Json = {}): Json {
  return {
    response: { id: 'resp_harness', output: callIds.flatMap((callId) => world.items(callId)) },
    reward: 1,
    ...extra,
  };
}

export interface RunOptions {
  readonly result?: Json | string;
  readonly policy?: SelectionPolicy;
}

/** Runs the kit over a world. By default all calls are returned. */
export function runWorld(world: World, options: RunOptions = {}): Promise<RolloutOutcome> {
  const staged = new MemoryStagedStore();
  for (const [key, record] of world.staged) staged.put(key, JSON.stringify(record));
  const all = world.ledger.manifest.records.map((record) => record.model_call_id);
  const result = options.result ?? resultOf(world, all);
  return buildRollout({
    attempt: 'unread',
    ledger: readLedgerView(JSON.parse(JSON.stringify(world.ledger))),
    result: parseHarnessResult(typeof result === 'string' ? result : JSON.stringify(result)),
    policy: options.policy ?? returnedHistory,
    staged,
  });
}

/** Selected calls of an outcome. */
export function selected(outcome: RolloutOutcome): string[] {
  return outcome.selection?.calls.map((record) => record.model_call_id) ?? [];
}

/** Reason codes of a masked outcome, in order, each once; empty where there are rows. */
export function codes(outcome: RolloutOutcome): string[] {
  return outcome.kind === 'masked' ? [...new Set(outcome.reasons.map(({ code }) => code))] : [];
}
