import { z } from 'zod';
import { parseLedgerUrl } from '../src/ledger/ledger-url.ts';

/**
 * Every key of the configuration: its type, its default, its meaning. The one place that knows them; `serve --help`, the README's table and the chart's
 * values schema are made from it (config/describe.ts). Units stand in names: `_s` seconds, `_ms` milliseconds, `_bytes` bytes.
 */

const MIB = 1024 * 1024;
const port = z.int().min(0).max(65_535);
const seconds = z.number().min(0);
/** A timer of more than 24 days fires at once. */
const timerSeconds = seconds.max(2_000_000);
/** What the header of a request can carry as one word. Files and mounted secrets end with a line break. */
const headerSecret = z
  .string()
  .trim()
  .regex(
    /^[\x21-\x7e]*$/,
    'holds a character that no header can carry as part of a key: only printable ASCII without spaces',
  );

/** How a key differs from the pattern `section.key` → `GYM_PROXY_SECTION_KEY`. */
export interface KeyMeta extends Record<string, unknown> {
  readonly description: string;
  /** Environment variable without `GYM_PROXY_`. */
  readonly env?: string;
  /** Never printed or logged; also read from the file that `<variable>_FILE` names. */
  readonly secret?: boolean;
  /** A plain comma-separated list is accepted in the environment and in flags. */
  readonly list?: boolean;
}

function key<T extends z.ZodType>(schema: T, description: string, meta: Omit<KeyMeta, 'description'> = {}): T {
  return schema.meta({ description, ...meta });
}

const normalWorkerUrl = (url: string) => url.replace(/\/+$/, '').replace(/\/v1$/, '');

const workerUrl = z
  .string()
  .regex(/^https?:\/\//, 'expected an http:// or https:// URL')
  .refine((url) => URL.canParse(url), 'is no URL')
  // They would be left out of the requests, and stand in logs.
  .refine((url) => !/^https?:\/\/[^/]*@/.test(url), 'holds a user or password: use worker.api_key or worker.api_keys')
  .refine((url) => !/[?#]/.test(url), 'has a query or fragment: only a path can stand after the host')
  .transform(normalWorkerUrl);

const ledgerUrl = z
  .string()
  .regex(
    /^(sqlite:.+|rediss?:\/\/.+|rediss?\+(sentinel|cluster):\/\/.+)$/,
    'expected sqlite:PATH, redis://, rediss://, redis+sentinel://h:p,h:p/master or redis+cluster://h:p,h:p',
  )
  .superRefine((url, context) => {
    try {
      parseLedgerUrl(url);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message.replace(/^ledger\.url:? /, '') });
    }
  });

/** Upstream members that capture needs as they are, or that have a setting of their own; an override of one would break calls or lineage. */
const NOT_OVERRIDDEN: Readonly<Record<string, string>> = {
  model: 'use model.override',
  ...Object.fromEntries(
    [
      'messages',
      'stream',
      'stream_options',
      'n',
      'best_of',
      'echo',
      'logprobs',
      'top_logprobs',
      'prompt_logprobs',
      'return_token_ids',
      'return_tokens_as_token_ids',
      'required_prefix_token_ids',
      'ng_capture',
      'ng_commit_coords',
      'offload_params',
      'request_id',
      'truncate_prompt_tokens',
      'add_generation_prompt',
      'continue_final_message',
    ].map((name) => [name, 'this service sets it itself']),
  ),
};

const samplingOverride = z.record(z.string(), z.json()).superRefine((fields, context) => {
  for (const name of Object.keys(fields)) {
    const advice = Object.hasOwn(NOT_OVERRIDDEN, name) ? NOT_OVERRIDDEN[name] : undefined;
    if (advice !== undefined)
      context.addIssue({ code: 'custom', path: [name], message: `cannot be overridden: ${advice}` });
  }
});

/** Members that an admission has anyway (protocol section 4). */
const ADMISSION_MEMBERS: ReadonlySet<string> = new Set([
  'schema_version',
  'capture_key',
  'rollout_id',
  'model_call_id',
  'mode',
  'parent_call_id',
  'prev_len',
  'parent_chain_hash',
  'staging_chain',
  'required_prefix_token_ids',
  'request_replay',
  'candidate_replay',
]);

const sourceMatch = z.strictObject({
  name: z
    .string()
    .min(1)
    .refine((name) => !ADMISSION_MEMBERS.has(name), 'is the name of another member of the admission'),
  exact: z.string().min(1),
  empty_tool_content: z.string().min(1),
});

export const configSchema = z.strictObject({
  server: z
    .strictObject({
      host: key(z.string().min(1).default('127.0.0.1'), 'address to listen on for agents', { env: 'HOST' }),
      port: key(port.default(8080), "the agents' port; 0 takes a free one", { env: 'PORT' }),
    })
    .prefault({}),
  control: z
    .strictObject({
      port: key(
        port.nullable().default(null),
        "port of its own for trainer and operators; null, or the same: the agents' port",
      ),
      host: key(
        z.string().min(1).nullable().default(null),
        'address to listen on for trainer and operators, with `control.port`; null: `server.host`',
      ),
      token: key(
        headerSecret.min(16, 'a control token needs at least 16 characters').nullable().default(null),
        'bearer token of trainer and operators; `serve` refuses to start without one',
        { secret: true },
      ),
    })
    .prefault({}),
  workers: key(
    z.array(workerUrl).min(1).default(['http://127.0.0.1:8000']),
    'base URLs of the inference workers, with or without /v1',
    { list: true },
  ),
  ledger: z
    .strictObject({
      url: key(
        ledgerUrl.default('sqlite:./data/ledger.db'),
        'where the ledger is kept: `sqlite:PATH` for one process; for several `redis://`, `rediss://`, `redis+sentinel://h:p,h:p/master`, `redis+cluster://h:p,h:p`',
      ),
      lease_s: key(
        timerSeconds.min(1).default(15),
        'a replica that has not renewed its lease for so long counts as dead: its calls in flight get a failure row',
      ),
      abandoned_after_s: key(
        seconds.min(60).nullable().default(null),
        'attempts without activity for so long are deleted, never with calls in flight; null: none is',
      ),
      commit_retry_s: key(
        seconds.default(60),
        'how long a finished call tries to record itself while the ledger is away, before its agent gets an error',
      ),
      wait_replicas: key(
        z.int().min(0).default(0),
        'Redis: number of its replicas that must acknowledge a write (`WAIT`) before it counts',
      ),
      wait_ms: key(z.int().min(1).default(1000), 'Redis: how long `WAIT` may take'),
      require_appendfsync: key(
        z.boolean().default(false),
        'Redis: count it as a fault, in `doctor` and on `/metrics`, unless every write is synced to disk (`appendonly yes`, `appendfsync always`)',
      ),
    })
    .prefault({}),
  capture: z
    .strictObject({
      schema_version: key(
        z.literal([2, 3]).default(3),
        'generation of the protocol that workers and trainer speak. 3: the proxy proposes, the worker decides; 2: the released one',
      ),
      owner_key: key(
        z.enum(['capture_key', 'rollout_id']).nullable().default(null),
        'name of the attempt on the wire; null: `capture_key` under schema 3, `rollout_id` under schema 2',
      ),
      source_match: key(
        sourceMatch
          .nullable()
          .default({ name: 'source_match', exact: 'exact', empty_tool_content: 'empty_tool_content' }),
        'name and values of the statement how a proposed parent matched; null leaves it out, for workers that predate it',
      ),
      after_failure: key(
        z.enum(['serve', 'refuse']).default('serve'),
        'further calls of an attempt that has a failure row: serve and record them, or answer 400 `attempt_incomplete`',
      ),
    })
    .prefault({}),
  worker: z
    .strictObject({
      kind: key(
        z.enum(['vllm', 'megatron']).default('vllm'),
        'where the admission stands in the body for the worker: at its top, or inside `offload_params`',
      ),
      api_key: key(headerSecret.min(1).nullable().default(null), 'bearer key for the workers', { secret: true }),
      api_keys: key(
        z.record(z.string().transform(normalWorkerUrl), headerSecret).default({}),
        'bearer keys of single workers, by base URL; they win over `worker.api_key`',
        { secret: true },
      ),
      call_id_limit: key(
        z.int().min(16).nullable().default(null),
        'longest tool-call id that the engine takes; longer ones are shortened on their way to it; null: any',
      ),
      reasoning_key: key(
        z.enum(['reasoning', 'reasoning_content', 'both']).default('reasoning'),
        'name under which the reasoning of earlier turns goes to the engine',
      ),
      connect_s: key(timerSeconds.min(0.01).default(5), 'time to connect to a worker'),
      health_s: key(timerSeconds.min(0.1).default(5), 'pause between two looks at a worker that failed'),
    })
    .prefault({}),
  model: z
    .strictObject({
      override: key(
        z.string().min(1).nullable().default(null),
        'model name that goes to the workers whatever the agent asks for',
      ),
      aliases: key(z.record(z.string(), z.string()).default({}), "names that agents use, each with the workers' name"),
    })
    .prefault({}),
  sampling: z
    .strictObject({
      override: key(
        samplingOverride.default({}),
        "upstream fields that are set on every call, over the agent's: temperature, top_p, seed, ...; null takes the agent's away",
      ),
    })
    .prefault({}),
  replies: z
    .strictObject({
      keep_bytes: key(
        z
          .int()
          .min(0)
          .default(64 * MIB),
        'memory for finished replies that are kept for re-sends',
      ),
      keep_s: key(seconds.default(900), 'how long finished replies are kept for re-sends'),
    })
    .prefault({}),
  lineage: z
    .strictObject({
      ambiguous: key(
        z.enum(['refuse', 'root']).default('refuse'),
        'several calls match and nothing tells them apart: answer 400 `ambiguous_candidate`, or start a root that says so',
      ),
      reasoning: key(
        z.enum(['required', 'optional', 'hidden']).default('required'),
        'a turn that comes back without its reasoning is a rewrite (`required`) or is accepted (`optional`); `hidden`: none is served',
      ),
    })
    .prefault({}),
  reasoning: z
    .strictObject({
      chat_key: key(
        z.enum(['reasoning', 'reasoning_content', 'both']).default('reasoning'),
        'name under which Chat replies carry reasoning',
      ),
      encrypted: key(
        z.enum(['on_include', 'always']).default('on_include'),
        'when Responses carry `encrypted_content`: as `include` asks, or always',
      ),
    })
    .prefault({}),
  requests: z
    .strictObject({
      chat_template: key(
        z.enum(['refuse', 'allow']).default('refuse'),
        "an agent's own `chat_template`: answer 400, or pass it on",
      ),
    })
    .prefault({}),
  agents: z
    .strictObject({
      key_secret: key(
        z.string().trim().min(16, 'a key secret needs at least 16 characters').nullable().default(null),
        'secret from which the agent key of each attempt is made; null: agents need no key',
        { env: 'AGENT_KEY_SECRET', secret: true },
      ),
    })
    .prefault({}),
  deadlines: z
    .strictObject({
      call_s: key(seconds.min(0.05).default(3600), 'longest time that an agent waits for one call; then 504'),
      drain_s: key(timerSeconds.default(60), 'how long a process that is told to stop waits for its calls in flight'),
    })
    .prefault({}),
  sse: z
    .strictObject({
      keepalive_s: key(
        seconds.min(0.02).default(15),
        'pause between the comment lines that keep a stream alive while its answer is awaited',
      ),
      grace_s: key(
        seconds.default(10),
        'how long errors of a stream are still HTTP statuses; then its head is sent, and they are events',
      ),
    })
    .prefault({}),
  limits: z
    .strictObject({
      answer_bytes: key(
        z
          .int()
          .min(1024)
          .default(256 * MIB),
        'largest answer of a worker, or stream of one that is passed on; more: 502, or the stream breaks off',
      ),
      body_bytes: key(
        z
          .int()
          .min(1024)
          .default(64 * MIB),
        'largest request body, before and after decompression; more: 413',
      ),
      calls_per_attempt: key(z.int().min(1).default(100_000), 'most captured calls of one attempt; more: 400'),
      concurrent_calls: key(z.int().min(1).default(4096), 'most calls in flight in one process; more: 429'),
      known_history_bytes: key(
        z
          .int()
          .min(0)
          .default(2 * MIB),
        'memory for requests of captured attempts, so that the part of a history that comes again is not read again (what was made of them takes about three times as much beside it); best as large as the histories of all running attempts; 0: none',
      ),
      json_depth: key(z.int().min(16).max(2048).default(512), 'deepest nesting of a request body; more: 400'),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: key(
        z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
        'lowest level that is logged',
      ),
    })
    .prefault({}),
});

export type Config = z.output<typeof configSchema>;

/** The owner's name on the wire (protocol sections 4 and 13). */
export function ownerKeyOf(config: Config): 'capture_key' | 'rollout_id' {
  return config.capture.owner_key ?? (config.capture.schema_version === 3 ? 'capture_key' : 'rollout_id');
}
