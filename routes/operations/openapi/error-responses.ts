import { ERROR_MEANINGS } from '../../../src/error-meanings.ts';
import { CATALOGUE, type ErrorCode } from '../../../src/errors.ts';
import { type JsonObject, ref } from './json-schemas.ts';

/** Any request with a body. */
const BODY: readonly ErrorCode[] = [
  'invalid_json',
  'invalid_request',
  'body_too_large',
  'unsupported_media_type',
  'internal_error',
];
/** What a model endpoint can answer, captured or not. */
const MODEL: readonly ErrorCode[] = [
  ...BODY,
  'unsupported_field',
  'invalid_parent',
  'context_length_exceeded',
  'unauthorized',
  'method_not_allowed',
  'upgrade_required',
  'rate_limit_exceeded',
  'worker_failed',
  'worker_refused_credentials',
  'worker_unreachable',
];

/** Codes that each kind of endpoint can answer with. */
export const ERRORS = {
  plainCall: [...MODEL, 'shutting_down'],
  capturedCall: [
    ...MODEL,
    'shutting_down',
    'invalid_attempt',
    'unknown_parent',
    'ambiguous_candidate',
    'attempt_incomplete',
    'too_many_calls',
    'idempotency_key_reused',
    'attempt_closed',
    'attempt_retired',
    'capture_failed',
    'commit_failed',
    'ledger_unavailable',
    'deadline_exceeded',
  ],
  measure: [
    ...MODEL,
    'invalid_attempt',
    'unknown_parent',
    'ambiguous_candidate',
    'attempt_retired',
    'ledger_unavailable',
  ],
  countTokens: [...MODEL, 'invalid_attempt'],
  compact: ['unsupported_field', 'unauthorized'],
  models: ['invalid_attempt', 'unauthorized', 'not_found', 'internal_error'],
  readControl: [
    'invalid_attempt',
    'invalid_request',
    'unauthorized',
    'attempt_retired',
    'ledger_unavailable',
    'internal_error',
  ],
  listControl: ['invalid_request', 'unauthorized', 'ledger_unavailable', 'internal_error'],
  removeControl: [...BODY, 'unauthorized', 'ledger_unavailable'],
  document: ['unauthorized', 'internal_error'],
} as const satisfies Record<string, readonly ErrorCode[]>;

type Kind = keyof typeof ERRORS;
type Envelope = 'OpenAIError' | 'AnthropicError';

/** The error replies of an operation, by status. */
export function errorResponses(kind: Kind, envelope: Envelope): JsonObject {
  return Object.fromEntries(
    [...byStatus(kind).keys()].map((status) => [
      String(status),
      { $ref: `#/components/responses/${responseName(kind, envelope, status)}` },
    ]),
  );
}

/** All error replies by name: which codes they carry, and what each means. */
export function errorComponents(): JsonObject {
  const kinds = Object.keys(ERRORS) as Kind[];
  const replies = kinds.flatMap((kind) =>
    ENVELOPES[kind].flatMap((envelope) =>
      [...byStatus(kind)].map(([status, codes]) => [responseName(kind, envelope, status), reply(codes, envelope)]),
    ),
  );
  return Object.fromEntries(replies) as JsonObject;
}

/** In which envelopes each kind of endpoint answers. */
const ENVELOPES: Readonly<Record<Kind, readonly Envelope[]>> = {
  plainCall: ['OpenAIError', 'AnthropicError'],
  capturedCall: ['OpenAIError', 'AnthropicError'],
  measure: ['OpenAIError'],
  countTokens: ['AnthropicError'],
  compact: ['OpenAIError'],
  models: ['OpenAIError'],
  readControl: ['OpenAIError'],
  listControl: ['OpenAIError'],
  removeControl: ['OpenAIError'],
  document: ['OpenAIError'],
};

function byStatus(kind: Kind): ReadonlyMap<number, readonly ErrorCode[]> {
  const groups = Map.groupBy(new Set<ErrorCode>(ERRORS[kind]), (code) => CATALOGUE[code].status);
  return new Map([...groups].sort(([a], [b]) => a - b));
}

function responseName(kind: Kind, envelope: Envelope, status: number): string {
  return `${kind}.${envelope}.${status}`;
}

function reply(codes: readonly ErrorCode[], envelope: Envelope): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code]}`).join('\n\n'),
    headers: headersOf(codes),
    content: { 'application/json': { schema: ref(envelope) } },
  };
}

function headersOf(codes: readonly ErrorCode[]): JsonObject {
  const waiting = codes.some((code) => CATALOGUE[code].retry);
  const final = codes.some((code) => !CATALOGUE[code].retry);
  return {
    ...(waiting ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}),
    ...(final ? { 'x-should-retry': { $ref: '#/components/headers/ShouldRetry' } } : {}),
  };
}
