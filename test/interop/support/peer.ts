import assert from 'node:assert/strict';
import { join } from 'node:path';
import { CONTROL_TOKEN, type Stack, send } from '../../support/stack.ts';
import { startProcess } from './process.ts';
import { PYTHON_FOLDER } from './python-environment.ts';

/** What the engine of the peer says: a Chat message without its role. */
export interface EngineMessage {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly tool_calls?: readonly object[];
  /** What goes wrong with the call that gets this message. */
  readonly fault?: 'storing fails' | 'no acknowledgement' | 'foreign acknowledgement' | 'engine error';
}

export interface PeerRecord {
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly response_id: string;
  readonly staging_key: string;
  readonly mode: 'text' | 'token_in';
  readonly output_fingerprint: string | null;
}

/** What the trainer's side of the package makes of an attempt (python/audit.py). */
export interface Audit {
  readonly records: readonly PeerRecord[];
  readonly failures: readonly { readonly model_call_id: string; readonly reason: string }[];
  /** Keys of everything that was staged for the attempt, recorded or not. */
  readonly staged: readonly string[];
  /** One verified row per call without a child. */
  readonly rows: readonly {
    readonly calls: readonly string[];
    readonly token_ids: readonly number[];
    readonly token_mask: readonly number[];
  }[];
  readonly selected: { readonly call: string | null; readonly reason: string };
  readonly attributed: { readonly call: string | null; readonly method: string; readonly reason: string };
  readonly output_fingerprint: string | null;
}

/** An inference worker with the package's capture, and a trainer that reads what it staged. */
export interface PeerWorker {
  readonly url: string;
  /** What its model says in its next calls; after that `answer <n>`. */
  script(...messages: EngineMessage[]): Promise<void>;
  /** The upstream requests so far: their admissions, as the package's model read them, and the names of their fields. */
  calls(): Promise<{ admission: Record<string, unknown> | null; fields: string[] }[]>;
  /** Reads an attempt of a proxy through the package's control client and rebuilds its rows. */
  audit(stack: Stack, attempt: string, more?: { response?: unknown; declared?: string }): Promise<Audit>;
}

/** The published package in a process of its own (python/peer.py). */
export interface Peer {
  readonly vllm: PeerWorker;
  readonly megatron: PeerWorker;
  /** Asks one of the package's own functions (python/oracle.py). */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  ask(question: string, inputs: object): Promise<any>;
  stop(): Promise<void>;
}

export async function startPeer(python: string): Promise<Peer> {
  const program = await startProcess(python, [join(PYTHON_FOLDER, 'peer.py')], {
    ready: /^listening (\d+)$/,
    endsWithInput: true,
  });
  const url = `http://127.0.0.1:${program.ready[1]}`;
  const post = async (path: string, body: object) => {
    const reply = await send('POST', `${url}/${path}`, body);
    assert.equal(reply.status, 200, reply.text);
    return reply.json;
  };
  const worker = (kind: string): PeerWorker => ({
    url: `${url}/${kind}`,
    script: (...messages) => post(`${kind}/script`, { messages }),
    calls: async () => (await post(`${kind}/calls`, {})).calls,
    audit: (stack, attempt, more = {}) =>
      post(`${kind}/audit`, { url: stack.proxy.controlUrl, token: CONTROL_TOKEN, rollout_id: attempt, ...more }),
  });
  return {
    vllm: worker('vllm'),
    megatron: worker('megatron'),
    ask: (question, inputs) => post('oracle', { ask: question, ...inputs }),
    stop: program.stop,
  };
}
