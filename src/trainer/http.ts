import { SourceError } from './source-error.ts';

/** How the kit speaks HTTP; everything has a default. */
export interface HttpOptions {
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Sent as `Authorization: Bearer`: the control token, for ledgers. */
  readonly token?: string | undefined;
  /** Default 60 s; closing an attempt waits longer by what it is told to wait. */
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;

export function get(url: string, options: HttpOptions): Promise<Response> {
  return send(url, { method: 'GET' }, options);
}

export function postJson(url: string, body: unknown, options: HttpOptions): Promise<Response> {
  return send(
    url,
    { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
    options,
  );
}

function send(
  url: string,
  init: RequestInit & { headers?: Record<string, string> },
  options: HttpOptions,
): Promise<Response> {
  const authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  return (options.fetch ?? globalThis.fetch)(url, {
    ...init,
    headers: { ...init.headers, ...authorization },
    signal: AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
  });
}

/** The answer to a request, if it is a success. Throws {@link HttpFailure} otherwise, with the error's own words where it has any. */
export async function expectOk(url: string, request: Promise<Response>): Promise<Response> {
  let response: Response;
  try {
    response = await request;
  } catch (error) {
    throw new HttpFailure(`${url} cannot be reached: ${causeOf(error)}`, null, { cause: error });
  }
  if (response.ok) return response;
  const text = (await response.text()).slice(0, 500);
  throw new HttpFailure(`${url} answered ${response.status}: ${text}`, response.status);
}

/** A peer that cannot be reached (`status` null), or that answered with an error. */
export class HttpFailure extends SourceError {
  readonly status: number | null;
  constructor(message: string, status: number | null, options?: ErrorOptions) {
    super(message, options);
    this.name = 'HttpFailure';
    this.status = status;
  }
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
