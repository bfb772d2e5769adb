import type { ServiceError } from '../errors.ts';
import { serviceError } from '../errors.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import { header, type ResponseHeaders } from '../worker/send.ts';

/** What an engine said instead of an answer. */
export interface EngineError {
  readonly status: number;
  readonly message: string;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  readonly retryAfter: string | undefined;
}

/** Reads an error answer of an engine: vLLM's, OpenAI's, FastAPI's `detail`, or plain text. */
export function readEngineError(status: number, headers: ResponseHeaders, body: Buffer): EngineError {
  const retryAfter = usableRetryAfter(header(headers, 'retry-after')?.trim());
  const node = parseJson(body);
  const none = { status, type: null, code: null, param: null, retryAfter };
  if (isJsonProblem(node)) {
    const text = body.toString('utf8').trim().slice(0, 2000);
    return {
      ...none,
      message: text === '' || text.startsWith('<') ? `The worker answered with status ${status}.` : text,
    };
  }
  const error = node.get('error');
  const source = error?.isObject() ? error : node;
  const message = source.get('message')?.string() ?? error?.string() ?? detail(node.get('detail'));
  const text = (name: string) => source.get(name)?.string() ?? null;
  return {
    ...none,
    message: message ?? `The worker answered with status ${status}.`,
    type: text('type'),
    code: text('code'),
    param: text('param'),
  };
}

/** Seconds or a date of HTTP; anything else says nothing. */
function usableRetryAfter(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const isDate = /^[A-Z][a-z]+,? /.test(value) && !Number.isNaN(Date.parse(value));
  return isDate || /^\d+(\.\d+)?$/.test(value) ? value : undefined;
}

function detail(node: JsonNode | undefined): string | undefined {
  return node === undefined ? undefined : (node.string() ?? node.rawText().slice(0, 2000));
}

/** Whether this is the engine's own refusal of a prompt that is too long (protocol section 6, first row): nothing can have been staged. */
export function isContextRefusal(error: EngineError): boolean {
  return error.status === 400 && /maximum context length/i.test(error.message);
}

/** The context refusal in words that agents look for; the engine's own words stay in. */
export function contextRefusal(error: EngineError): ServiceError {
  const maximum = number(/maximum context length[^\d.]{0,60}([\d,]+)/i.exec(error.message)?.[1]);
  const tokens = number(
    (/([\d,]+) (?:tokens )?in (?:the|your) (?:messages|prompt|input)/i.exec(error.message) ??
      /(?:has|have|contains?|resulted in|with|prompt of|passed|length)\s+(?:at least )?([\d,]+)\s+(?:input |prompt )?tokens/i.exec(
        error.message,
      ) ??
      /requested\s+([\d,]+)\s+tokens/i.exec(error.message))?.[1],
  );
  const numbers = tokens !== null && maximum !== null ? `: ${tokens} tokens > ${maximum} maximum` : '';
  return {
    ...serviceError('context_length_exceeded', error.message, { param: error.param }),
    contextPrefix: `prompt is too long${numbers}`,
  };
}

function number(text: string | undefined): number | null {
  return text === undefined ? null : Number(text.replaceAll(',', ''));
}

/**
 * What the agent gets for any other HTTP error of an engine (protocol section 6, second row): 4xx with the engine's status and words, 409 and 422 as 400,
 * 401 and 403 as our own misconfiguration, 5xx as 502. `Retry-After` is kept.
 */
export function engineErrorToAgent(error: EngineError): ServiceError {
  if (error.status === 401 || error.status === 403) {
    return serviceError(
      'worker_refused_credentials',
      'The inference worker refused the credentials of this server. Its operator has to correct them.',
    );
  }
  if (error.status < 400 || error.status >= 500) {
    const mayRetry = error.status === 503 && error.retryAfter !== undefined;
    return {
      ...serviceError('worker_failed', `The inference worker failed with status ${error.status}: ${error.message}`),
      retryAfterHeader: error.retryAfter,
      mayRetry,
    };
  }
  const status = error.status === 409 || error.status === 422 ? 400 : error.status;
  return {
    code: error.code ?? CODES[status] ?? 'invalid_request',
    status,
    kind:
      status === 404 ? 'not_found' : status === 413 ? 'too_large' : status === 429 ? 'rate_limit' : 'invalid_request',
    message: error.message,
    param: error.param,
    retryAfterS: status === 429 && error.retryAfter === undefined ? 2 : null,
    retryAfterHeader: error.retryAfter,
    mayRetry: status === 429,
  };
}

const CODES: Readonly<Record<number, string>> = { 404: 'not_found', 413: 'body_too_large', 429: 'rate_limit_exceeded' };
