import { randomUUID } from 'node:crypto';
import { DEFAULT_SOURCE_MATCH, type SourceMatchSpelling } from '../protocol/wire/admission.ts';
import type { OwnerKey } from '../protocol/wire/coordinates.ts';
import type { ReasoningKey } from './completion.ts';
import type { ScriptUpdate } from './model.ts';

/** Everything about a reference worker that can be chosen; all of it has a default. */
export interface ReferenceWorkerOptions {
  readonly host?: string | undefined;
  /** 0 (default): a free one. */
  readonly port?: number | undefined;
  /** Names for `/v1/models`; the first answers requests that name none. Every name is served. Default `policy`. */
  readonly models?: readonly string[] | undefined;
  /** Prompt and generated tokens together. Default 131072. */
  readonly maxModelLen?: number | undefined;
  /** Where the admission stands: `ng_capture` at the top (vllm) or inside `offload_params` (megatron). Default: either. */
  readonly kind?: 'auto' | 'vllm' | 'megatron' | undefined;
  readonly ownerKey?: OwnerKey | 'auto' | undefined;
  readonly sourceMatch?: SourceMatchSpelling | null | undefined;
  /** False: a renderer that may render null and "" differently (protocol section 5). Default true. */
  readonly allowEmptyToolContent?: boolean | undefined;
  /** Ids of whole texts; for these the tokenizer makes none up. */
  readonly vocabulary?: Readonly<Record<string, readonly number[]>> | undefined;
  /** `none`: the stand-in without template (protocol section 12). Default `chat`. */
  readonly template?: 'chat' | 'none' | undefined;
  /** `drop_earlier`: the template leaves out reasoning before the last user message. Default `keep`. */
  readonly templateReasoning?: 'keep' | 'drop_earlier' | undefined;
  /** Log probability of every generated token. Default -0.25. */
  readonly logprob?: number | undefined;
  /** Default 0. */
  readonly weightVersion?: number | undefined;
  /** Under which key messages carry reasoning. Default `reasoning`. */
  readonly reasoningKey?: ReasoningKey | undefined;
  /** Answers carry token ids wherever a careless engine puts them. Default false. */
  readonly leakTokens?: boolean | undefined;
  /** Calls without this bearer are refused with 401. Default: none is asked for. */
  readonly apiKey?: string | null | undefined;
  /** How long every generation takes. Default 0. */
  readonly latencyMs?: number | undefined;
  /** Pause between the events of a stream. Default 0. */
  readonly streamDelayMs?: number | undefined;
  /** JSON lines; read at start, so staged tokens outlive the process. */
  readonly queueFile?: string | null | undefined;
  /** The log is also appended here, as JSON lines. */
  readonly logFile?: string | null | undefined;
  /** Events that the log keeps in memory. Default 100000. */
  readonly logLimit?: number | undefined;
  /** Requests that are kept as they came, for tests. Default 200. */
  readonly keptRequests?: number | undefined;
  readonly script?: ScriptUpdate | undefined;
  /** Answers calls without tokenizing, deciding or logging: for benchmarks. */
  readonly instant?: InstantOptions | undefined;
  /** Seconds since the epoch. */
  readonly nowS?: (() => number) | undefined;
  /** 32 hex digits, never the same twice. */
  readonly newId?: (() => string) | undefined;
}

export interface InstantOptions {
  /** New prompt tokens of every call. Default 16. */
  readonly promptTokens?: number | undefined;
  /** Default 64. */
  readonly generatedTokens?: number | undefined;
}

type Complete<T> = { readonly [K in keyof Required<T>]: Exclude<T[K], undefined> };

/** Options with all defaults filled in; `script` is consumed before, `instant` stays optional. */
export type WorkerSettings = Complete<Omit<ReferenceWorkerOptions, 'script' | 'instant'>>;

export function withDefaults(options: ReferenceWorkerOptions): WorkerSettings {
  return {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    models: options.models ?? ['policy'],
    maxModelLen: options.maxModelLen ?? 131_072,
    kind: options.kind ?? 'auto',
    ownerKey: options.ownerKey ?? 'auto',
    sourceMatch: options.sourceMatch === undefined ? DEFAULT_SOURCE_MATCH : options.sourceMatch,
    allowEmptyToolContent: options.allowEmptyToolContent ?? true,
    vocabulary: options.vocabulary ?? {},
    template: options.template ?? 'chat',
    templateReasoning: options.templateReasoning ?? 'keep',
    logprob: options.logprob ?? -0.25,
    weightVersion: options.weightVersion ?? 0,
    reasoningKey: options.reasoningKey ?? 'reasoning',
    leakTokens: options.leakTokens ?? false,
    apiKey: options.apiKey ?? null,
    latencyMs: options.latencyMs ?? 0,
    streamDelayMs: options.streamDelayMs ?? 0,
    queueFile: options.queueFile ?? null,
    logFile: options.logFile ?? null,
    logLimit: options.logLimit ?? 100_000,
    keptRequests: options.keptRequests ?? 200,
    nowS: options.nowS ?? (() => Date.now() / 1000),
    newId: options.newId ?? (() => randomUUID().replaceAll('-', '')),
  };
}
