import { PARENT_HEADER } from '../../../src/call/identify-attempt.ts';
import { ATTEMPT_PATTERN } from '../../../src/protocol/wire/primitives.ts';
import { type JsonObject, ref } from './json-schemas.ts';

/** Parts of the document that operations share. */

const shared = (kind: string, name: string): JsonObject => ({ $ref: `#/components/${kind}/${name}` });

export const ATTEMPT = shared('parameters', 'Attempt');
export const MODEL_ID = shared('parameters', 'Model');
export const PARENT = shared('parameters', 'CaptureParent');

export const SECURITY = {
  /** Agents need a key only where `agents.key_secret` is set. */
  agent: [{}, { agentKey: [] }, { agentApiKey: [] }],
  control: [{ controlToken: [] }],
  open: [],
} as const;

export const PARAMETERS: JsonObject = {
  Attempt: {
    name: 'attempt',
    in: 'path',
    required: true,
    description: 'one run of one rollout: 1 to 256 letters, digits, `.`, `_`, `-`, beginning with a letter or digit',
    schema: { type: 'string', pattern: ATTEMPT_PATTERN.source },
  },
  Model: {
    name: 'model',
    in: 'path',
    required: true,
    description: 'name of a model; it may hold slashes',
    schema: { type: 'string' },
  },
  CaptureParent: {
    name: PARENT_HEADER,
    in: 'header',
    required: false,
    description:
      'JSON text: `null` for a root without search, or the `response_id` of the accepted earlier response in double quotes: only that call can be the parent',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'idempotency-key',
    in: 'header',
    required: false,
    description:
      'a request with the key and body of an earlier call that has not failed gets the reply of that call and runs nothing',
    schema: { type: 'string' },
  },
};

export const HEADERS: JsonObject = {
  RequestId: {
    description:
      'id of the call: `model_call_id` in the ledger, `callId` in the log. A joined re-send has that of the call it joined',
    schema: { type: 'string', pattern: '^[0-9a-f]{32}$' },
  },
  RetryAfter: { description: 'seconds to wait before the request is sent again', schema: { type: 'string' } },
  ShouldRetry: {
    description: '`false` where sending the request again is useless or would run inference twice; SDKs obey it',
    schema: { type: 'string', enum: ['false'] },
  },
};

export const SECURITY_SCHEMES: JsonObject = {
  controlToken: {
    type: 'http',
    scheme: 'bearer',
    description: '`control.token`: for trainer and operators, never for agents',
  },
  agentKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'the key of the attempt, where `agents.key_secret` is set (`gym-model-proxy agent-key`)',
  },
  agentApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'the same key, as Anthropic clients send it',
  },
};

export function jsonReply(description: string, schema: string): JsonObject {
  return { description, content: { 'application/json': { schema: ref(schema) } } };
}
