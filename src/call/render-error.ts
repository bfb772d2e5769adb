import type { ErrorKind, ServiceError } from '../errors.ts';
import type { Dialect } from '../protocol/conversation.ts';

/** An error as HTTP. */
export interface ErrorReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const OPENAI_TYPES: Readonly<Record<ErrorKind, string>> = {
  invalid_request: 'invalid_request_error',
  authentication: 'authentication_error',
  not_found: 'not_found_error',
  gone: 'invalid_request_error',
  too_large: 'invalid_request_error',
  rate_limit: 'rate_limit_error',
  overloaded: 'server_error',
  upgrade_required: 'invalid_request_error',
  upstream: 'server_error',
  timeout: 'server_error',
  internal: 'server_error',
};

const ANTHROPIC_TYPES: Readonly<Record<ErrorKind, string>> = {
  invalid_request: 'invalid_request_error',
  authentication: 'authentication_error',
  not_found: 'not_found_error',
  gone: 'invalid_request_error',
  too_large: 'request_too_large',
  rate_limit: 'rate_limit_error',
  overloaded: 'overloaded_error',
  upgrade_required: 'invalid_request_error',
  upstream: 'api_error',
  timeout: 'api_error',
  internal: 'api_error',
};

/** The error in the dialect's own envelope (design, "Errors"; protocol section 6). Null is for callers that speak none: the OpenAI envelope. */
export function errorReply(dialect: Dialect | null, error: ServiceError): ErrorReply {
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' };
  const retryAfter =
    error.retryAfterHeader ?? (error.retryAfterS === null ? undefined : String(Math.ceil(error.retryAfterS)));
  if (retryAfter !== undefined) headers['retry-after'] = retryAfter;
  if (!error.mayRetry) headers['x-should-retry'] = 'false';
  const body = JSON.stringify(dialect === 'messages' ? anthropicEnvelope(error) : openAiEnvelope(error));
  headers['content-length'] = String(Buffer.byteLength(body));
  return { status: error.status, headers, body };
}

/** The error as the last events of a stream whose head is out (C112). */
export function errorEvents(dialect: Dialect, error: ServiceError): string {
  switch (dialect) {
    case 'chat':
      return `data: ${JSON.stringify(openAiEnvelope(error))}\n\n`;
    case 'messages':
      return `event: error\ndata: ${JSON.stringify(anthropicEnvelope(error))}\n\n`;
    case 'responses':
      return failedResponseEvents(error);
    default: {
      const never: never = dialect;
      return never;
    }
  }
}

function openAiEnvelope(error: ServiceError) {
  return {
    error: { message: openAiMessage(error), type: OPENAI_TYPES[error.kind], param: error.param, code: error.code },
  };
}

function anthropicEnvelope(error: ServiceError) {
  const message =
    error.contextPrefix === undefined ? `${error.code}: ${error.message}` : `${error.contextPrefix}. ${error.message}`;
  // Without details there is no such member.
  return { type: 'error', error: { type: ANTHROPIC_TYPES[error.kind], message, details: error.details } };
}

function openAiMessage(error: ServiceError): string {
  return error.contextPrefix === undefined ? error.message : `${error.message} (${error.contextPrefix})`;
}

/** Official clients throw where the first event is another than `response.created`; Codex reads only `response.failed`. */
function failedResponseEvents(error: ServiceError): string {
  const response = (status: string, failure: object | null) => ({
    id: `resp_failed_${error.code}`,
    object: 'response',
    created_at: 0,
    status,
    error: failure,
    incomplete_details: null,
    instructions: null,
    metadata: null,
    model: '',
    output: [],
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: null,
  });
  const events: [string, object][] = [
    ['response.created', response('in_progress', null)],
    ['response.in_progress', response('in_progress', null)],
    ['response.failed', response('failed', { code: error.code, message: openAiMessage(error) })],
  ];
  return events
    .map(
      ([type, body], at) =>
        `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: at, response: body })}\n\n`,
    )
    .join('');
}
