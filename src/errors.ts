/**
 * The error catalogue: every error that an agent, a trainer or an operator can get, with its status and whether sending the same request again can
 * help. No 409 and no 422: agents re-send them (protocol section 6). Mirrored in docs/errors.md.
 */
export type ErrorKind =
  | 'invalid_request'
  | 'authentication'
  | 'not_found'
  | 'gone'
  | 'too_large'
  | 'rate_limit'
  | 'overloaded'
  | 'upgrade_required'
  | 'upstream'
  | 'timeout'
  | 'internal';

interface CatalogueEntry {
  readonly status: number;
  readonly kind: ErrorKind;
  /** `true`: waiting helps, the reply carries Retry-After. `false`: a re-send is useless or would run inference twice. */
  readonly retry: boolean;
}

const entry = (status: number, kind: ErrorKind, retry = false): CatalogueEntry => ({ status, kind, retry });

export const CATALOGUE = {
  invalid_json: entry(400, 'invalid_request'),
  invalid_request: entry(400, 'invalid_request'),
  unsupported_field: entry(400, 'invalid_request'),
  invalid_attempt: entry(400, 'invalid_request'),
  invalid_parent: entry(400, 'invalid_request'),
  unknown_parent: entry(400, 'invalid_request'),
  ambiguous_candidate: entry(400, 'invalid_request'),
  attempt_incomplete: entry(400, 'invalid_request'),
  too_many_calls: entry(400, 'invalid_request'),
  idempotency_key_reused: entry(400, 'invalid_request'),
  context_length_exceeded: entry(400, 'invalid_request'),
  unauthorized: entry(401, 'authentication'),
  not_found: entry(404, 'not_found'),
  method_not_allowed: entry(405, 'invalid_request'),
  attempt_closed: entry(410, 'gone'),
  attempt_retired: entry(410, 'gone'),
  body_too_large: entry(413, 'too_large'),
  unsupported_media_type: entry(415, 'invalid_request'),
  upgrade_required: entry(426, 'upgrade_required'),
  rate_limit_exceeded: entry(429, 'rate_limit', true),
  internal_error: entry(500, 'internal'),
  worker_failed: entry(502, 'upstream'),
  worker_refused_credentials: entry(502, 'upstream'),
  capture_failed: entry(502, 'upstream'),
  worker_unreachable: entry(503, 'overloaded', true),
  ledger_unavailable: entry(503, 'overloaded', true),
  shutting_down: entry(503, 'overloaded', true),
  commit_failed: entry(502, 'upstream'),
  deadline_exceeded: entry(504, 'timeout'),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof CATALOGUE;

/** An error on its way to a caller, in no dialect yet. `status` and `code` may be an engine's own. */
export interface ServiceError {
  readonly code: string;
  readonly status: number;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly param: string | null;
  /** Whole seconds for `Retry-After`, or null. */
  readonly retryAfterS: number | null;
  /** The exact `Retry-After` of an engine, kept as it came. */
  readonly retryAfterHeader?: string | undefined;
  /** False sends `x-should-retry: false`. */
  readonly mayRetry: boolean;
  /** Context refusals only: the words that agents of the Messages dialect look for, with the numbers where the engine gave them. */
  readonly contextPrefix?: string | undefined;
  /** Messages only: `error.details`, which clients act on. */
  readonly details?: object | undefined;
}

/** Seconds that a caller is told to wait where the catalogue says that waiting helps. */
export const DEFAULT_RETRY_AFTER_S = 2;

/** Builds an error of the catalogue. */
export function serviceError(
  code: ErrorCode,
  message: string,
  options: { param?: string | null; retryAfterS?: number } = {},
): ServiceError {
  const { status, kind, retry } = CATALOGUE[code];
  return {
    code,
    status,
    kind,
    message,
    param: options.param ?? null,
    retryAfterS: retry ? (options.retryAfterS ?? DEFAULT_RETRY_AFTER_S) : null,
    mayRetry: retry,
  };
}

/** Thrown only where a framework hook needs an exception; steps return {@link ServiceError} values. */
export class ServiceErrorException extends Error {
  readonly serviceError: ServiceError;
  constructor(error: ServiceError) {
    super(error.message);
    this.name = 'ServiceErrorException';
    this.serviceError = error;
  }
}
