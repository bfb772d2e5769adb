import type { StagedRecord } from '../protocol/wire/ledger.ts';
import type { Admission } from './admission.ts';
import type { PromptBody } from './chat-body.ts';
import { decideCaptureInput } from './decide-capture-input.ts';
import type { MediaSpan, Renderer } from './render.ts';
import { splice } from './splice.ts';
import type { TransferQueue } from './transfer-queue.ts';

/** The exact prompt of a captured call and the parent that will be stored. */
export interface PreparedPrompt {
  readonly kind: 'prepared';
  readonly mode: 'text' | 'token_in';
  readonly parentCallId: string | null;
  readonly parentChainHash: string | null;
  /** Tokens of the parent, at the start of `prompt`; 0 for a root. */
  readonly prevLen: number;
  readonly prompt: readonly number[];
  /** Images and videos in the new part of the prompt; `start` counts from the first token of the delta. */
  readonly media: readonly MediaSpan[];
  /** Why a candidate was not followed, where that deserves a look. */
  readonly warning: string | null;
}

export type PrepareOutcome = PreparedPrompt | { readonly kind: 'error'; readonly message: string };

export interface PrepareOptions {
  readonly renderer: Renderer;
  readonly queue: TransferQueue;
  readonly allowEmptyToolContent: boolean;
  /** A misbehaviour: the candidate is not even looked at. */
  readonly rootInstead: boolean;
}

/** Decides between root and continuation and gets the exact prompt (protocol section 5). An error is the worker's 500. */
export function preparePrompt(body: PromptBody, admission: Admission, options: PrepareOptions): PrepareOutcome {
  const { renderer } = options;
  const allowEmpty =
    options.allowEmptyToolContent && renderer.rendersNullAsEmpty && body.messages.every(hasPlainContent);
  const input = options.rootInstead
    ? ({ kind: 'root', warning: 'told to start a root' } as const)
    : decideCaptureInput(admission, body.messages, allowEmpty);
  switch (input.kind) {
    case 'error':
      return input;
    case 'root':
      return root(body, renderer, input.warning);
    case 'continuation':
      return continuation(body, admission, options);
    case 'as_is':
      return input.mode === 'text' ? root(body, renderer, null) : continuation(body, admission, options);
    default:
      return input satisfies never;
  }
}

function hasPlainContent(message: PromptBody['messages'][number]): boolean {
  return message.content == null || typeof message.content === 'string';
}

function root(body: PromptBody, renderer: Renderer, warning: string | null): PreparedPrompt {
  const { tokens, media } = renderer.render(body, true);
  return {
    kind: 'prepared',
    mode: 'text',
    parentCallId: null,
    parentChainHash: null,
    prevLen: 0,
    prompt: tokens,
    media,
    warning,
  };
}

function continuation(body: PromptBody, admission: Admission, options: PrepareOptions): PrepareOutcome {
  const { renderer, queue } = options;
  const restored = restorePrefix(queue, admission);
  if (restored.kind === 'error') return restored;
  const lastAssistant = body.messages.findLastIndex((message) => message.role === 'assistant');
  const history = { ...body, messages: body.messages.slice(0, lastAssistant + 1) };
  const full = renderer.render(body, true);
  const spliced = splice({
    exactPrefix: restored.tokens,
    renderedHistory: renderer.render(history, false).tokens,
    renderedFull: full.tokens,
    eos: renderer.eos,
  });
  if (spliced.kind === 'error') return spliced;
  const { prompt, kept, from } = spliced;
  const shift = kept - from - admission.prevLen;
  return {
    kind: 'prepared',
    mode: 'token_in',
    parentCallId: admission.parentCallId,
    parentChainHash: admission.parentChainHash,
    prevLen: admission.prevLen,
    prompt,
    media: full.media.filter((span) => span.start >= from).map((span) => ({ ...span, start: span.start + shift })),
    warning: null,
  };
}

type Restored =
  | { readonly kind: 'tokens'; readonly tokens: number[] }
  | { readonly kind: 'error'; readonly message: string };

/** The parent's exact tokens: every delta of the chain, in order, each where the one before it ends, together `prev_len`. */
function restorePrefix(queue: TransferQueue, admission: Admission): Restored {
  const { records, missing } = queue.batch(admission.stagingChain);
  if (missing.length > 0)
    return { kind: 'error', message: `the staging chain has keys without tokens: ${missing.join(', ')}` };
  const tokens: number[] = [];
  let parent: StagedRecord | null = null;
  for (const record of records) {
    if (record.prev_len !== tokens.length || record.parent_call_id !== (parent?.model_call_id ?? null)) {
      return { kind: 'error', message: `the staging chain is broken at ${record.staging_key}` };
    }
    for (const token of record.token_ids_delta) tokens.push(token);
    parent = record;
  }
  if (tokens.length !== admission.prevLen) {
    return {
      kind: 'error',
      message: `the staged prefix has ${tokens.length} tokens, not prev_len ${admission.prevLen}`,
    };
  }
  if (parent?.chain_hash !== admission.parentChainHash) {
    return { kind: 'error', message: "parent_chain_hash is not that of the chain's last call" };
  }
  return { kind: 'tokens', tokens };
}
