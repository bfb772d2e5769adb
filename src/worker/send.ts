import type { Dispatcher } from 'undici';

/** What one try to reach one worker came to. Only `unreachable` may be tried elsewhere: no byte of the request left. */
export type SendOutcome =
  | { readonly kind: 'response'; readonly status: number; readonly headers: ResponseHeaders; readonly body: Buffer }
  | { readonly kind: 'unreachable'; readonly detail: string }
  /** A byte may have left: what the worker did is unknown. `headSeen`: it broke off inside its answer. */
  | { readonly kind: 'lost'; readonly detail: string; readonly headSeen: boolean };

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface SendRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** Aborting gives `lost`. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the head of the answer; 0 waits for ever (a generation lasts as long as it lasts). */
  readonly headTimeoutMs?: number;
}

/** Takes an answer as it comes, instead of having it collected. */
export interface AnswerTaker {
  /** The head is there; true: the bytes behind it go to `take`, and the `body` of the outcome is empty. */
  begin(status: number, headers: ResponseHeaders): boolean;
  take(chunk: Buffer, controller: Dispatcher.DispatchController): void;
}

/**
 * Sends one request once, over one of a worker's connections. Never retries, never times a running generation out, never throws for what the network does.
 * undici calls `onRequestStart` right before the first byte is written, so an error before it proves that nothing left.
 */
export function send(
  connections: Dispatcher,
  request: SendRequest,
  taker: AnswerTaker | null = null,
): Promise<SendOutcome> {
  return new Promise((resolve) => {
    let started = false;
    let status = 0;
    let headers: ResponseHeaders = {};
    let isTaken = false;
    const chunks: Buffer[] = [];
    let abort: ((reason: Error) => void) | undefined;
    const onAbort = () => abort?.(new Error('cancelled'));
    const finish = (outcome: SendOutcome) => {
      request.signal?.removeEventListener('abort', onAbort);
      resolve(outcome);
    };
    const fail = (error: Error) => {
      const detail = describeNetworkError(error);
      finish(started ? { kind: 'lost', detail, headSeen: status !== 0 } : { kind: 'unreachable', detail });
    };
    request.signal?.addEventListener('abort', onAbort);
    try {
      connections.dispatch(
        {
          path: request.path,
          method: request.method,
          headers: request.headers,
          body: request.body,
          headersTimeout: request.headTimeoutMs ?? 0,
          bodyTimeout: request.headTimeoutMs ?? 0,
        },
        {
          onRequestStart(controller) {
            started = true;
            abort = (reason) => controller.abort(reason);
            if (request.signal?.aborted) onAbort();
          },
          onResponseStart(_controller, statusCode, responseHeaders) {
            status = statusCode;
            headers = responseHeaders;
            isTaken = taker?.begin(status, headers) ?? false;
          },
          onResponseData(controller, chunk) {
            if (isTaken) taker?.take(chunk as Buffer, controller);
            else chunks.push(chunk as Buffer);
          },
          onResponseEnd() {
            const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
            finish({ kind: 'response', status, headers, body });
          },
          onResponseError(_controller, error) {
            fail(error);
          },
        },
      );
    } catch (error) {
      fail(error as Error);
    }
  });
}

/** First value of a header, or undefined. */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Error code and words of a network error. */
export function describeNetworkError(error: Error & { code?: string; cause?: unknown }): string {
  const first = error instanceof AggregateError ? ((error.errors[0] as Error | undefined) ?? error) : error;
  const code = (first as { code?: string }).code ?? error.code;
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'the answer is larger than limits.answer_bytes';
  return code === undefined || first.message.includes(code) ? first.message : `${code}: ${first.message}`;
}
