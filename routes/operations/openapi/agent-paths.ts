import type { Dialect } from '../../../src/protocol/conversation.ts';
import { CALL_PREFIXES } from '../../call/index.ts';
import { type ERRORS, errorResponses } from './error-responses.ts';
import { type JsonObject, ref } from './json-schemas.ts';
import { ATTEMPT, jsonReply, MODEL_ID, PARENT, SECURITY } from './parts.ts';
import { requestName } from './request-bodies.ts';

/** The agents' side (protocol section 2): three prefixes, two of which capture. */

const ENDPOINTS: readonly {
  readonly dialect: Dialect;
  readonly path: string;
  readonly summary: string;
  readonly reply: string;
}[] = [
  { dialect: 'responses', path: '/responses', summary: 'OpenAI Responses', reply: 'Response' },
  { dialect: 'chat', path: '/chat/completions', summary: 'OpenAI Chat Completions', reply: 'ChatCompletion' },
  { dialect: 'messages', path: '/messages', summary: 'Anthropic Messages', reply: 'Message' },
];

type Envelope = Parameters<typeof errorResponses>[1];
const envelopeOf = (dialect: Dialect): Envelope => (dialect === 'messages' ? 'AnthropicError' : 'OpenAIError');

export function agentPaths(): JsonObject {
  return Object.assign({}, ...CALL_PREFIXES.map(prefixPaths), measurePath()) as JsonObject;
}

function prefixPaths(route: string, at: number): JsonObject {
  const prefix = route.replace(':attempt', '{attempt}');
  const captured = prefix !== route;
  const parameters = captured ? [ATTEMPT] : [];
  const tag = captured ? 'Agents: captured calls' : 'Agents: plain calls';
  const operation = (name: string, summary: string) => ({
    operationId: `${name}${['CapturedLong', 'Captured', ''][at]}`,
    tags: [tag],
    summary,
    security: SECURITY.agent,
  });
  const paths: Record<string, JsonObject> = {};
  for (const { dialect, path, summary, reply } of ENDPOINTS) {
    const takesParent = captured && dialect !== 'messages';
    paths[prefix + path] = {
      parameters,
      post: {
        ...operation(requestName(dialect).replace(/Request$/, ''), summary),
        description: callDescription(captured, dialect),
        parameters: [...(captured ? [IDEMPOTENCY_KEY] : []), ...(takesParent ? [PARENT] : [])],
        requestBody: body(dialect),
        responses: {
          200: callReply(reply),
          ...errorResponses(captured ? 'capturedCall' : 'plainCall', envelopeOf(dialect)),
        },
      },
    };
  }
  paths[`${prefix}/responses/compact`] = {
    parameters,
    post: {
      ...operation('CompactResponses', 'Remote compaction: always refused'),
      description: 'There is no stored conversation that could be compacted. Let the client compact locally.',
      responses: errorResponses('compact', 'OpenAIError'),
    },
  };
  paths[`${prefix}/messages/count_tokens`] = {
    parameters,
    post: {
      ...operation('CountMessageTokens', 'Number of prompt tokens of a Messages request'),
      description: 'Counted by the worker. Captures nothing.',
      requestBody: body('messages'),
      responses: { 200: jsonReply('The number.', 'InputTokens'), ...errorResponses('countTokens', 'AnthropicError') },
    },
  };
  const models = (name: string, summary: string, reply: string) => ({
    ...operation(name, summary),
    responses: { 200: jsonReply('As the worker gave it.', reply), ...errorResponses('models', 'OpenAIError') },
  });
  paths[`${prefix}/models`] = {
    parameters,
    get: {
      ...models('ListModels', "The workers' models", 'ModelList'),
      description: 'The last known list while no worker answers; it never fails and never marks an attempt.',
    },
  };
  paths[`${prefix}/models/{model}`] = {
    parameters: [...parameters, MODEL_ID],
    get: models('GetModel', 'One model of the list', 'Model'),
  };
  return paths;
}

function measurePath(): JsonObject {
  const responses: Record<string, unknown> = {
    200: jsonReply('The number of tokens; never the tokens.', 'PromptTokens'),
    ...errorResponses('measure' satisfies keyof typeof ERRORS, 'OpenAIError'),
  };
  return {
    '/context/{attempt}/measure': {
      parameters: [ATTEMPT],
      post: {
        operationId: 'Measure',
        tags: ['Agents: captured calls'],
        summary: 'Number of prompt tokens of a would-be call',
        description:
          'The conversion and the search of a call, without the call: nothing is recorded, also on a closed attempt.',
        security: SECURITY.agent,
        parameters: [PARENT],
        requestBody: {
          required: true,
          content: {
            'application/json': { schema: { anyOf: [ref(requestName('responses')), ref(requestName('chat'))] } },
          },
        },
        responses,
      },
    },
  };
}

const IDEMPOTENCY_KEY: JsonObject = { $ref: '#/components/parameters/IdempotencyKey' };

function callDescription(captured: boolean, dialect: Dialect): string {
  const streamed =
    dialect === 'chat' && !captured
      ? 'A stream is passed through as the engine gives it.'
      : 'With `stream: true` the events are rendered from the finished answer; while it is awaited comment lines keep the connection alive.';
  return captured
    ? `Captured: the call is recorded in the ledger of the attempt before its answer is sent. ${streamed}`
    : `Nothing is captured. ${streamed}`;
}

function body(dialect: Dialect): JsonObject {
  return { required: true, content: { 'application/json': { schema: ref(requestName(dialect)) } } };
}

function callReply(name: string): JsonObject {
  return {
    description: 'The answer, in the dialect of the path.',
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' } },
    content: {
      'application/json': { schema: ref(name) },
      'text/event-stream': {
        schema: {
          type: 'string',
          description: "With `stream: true`: the dialect's own events, complete and in order.",
        },
      },
    },
  };
}
