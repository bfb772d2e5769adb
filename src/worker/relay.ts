import type { Dispatcher } from 'undici';
import type { ResponseHeaders, SendOutcome, SendRequest } from './send.ts';
import { describeNetworkError } from './send.ts';

/** Where a stream that is passed through goes. */
export interface RelaySink {
  /** The engine's head is there: 200, with this content type. */
  open(contentType: string): void;
  /** Takes bytes; false asks to wait until `drained` is called. */
  write(chunk: Buffer, drained: () => void): boolean;
  /** The engine has finished. */
  end(): void;
}

/** `broken_off`: the head had gone out when the engine stopped, or `signal` was aborted. */
export type RelayOutcome =
  | SendOutcome
  | { readonly kind: 'relayed' }
  | { readonly kind: 'broken_off'; readonly detail: string };

/**
 * Sends one request and passes a 200 answer through as it comes, with back pressure. Anything else is collected and returned as `send` does.
 * Aborting `signal` cancels the engine's work.
 */
export function relay(
  dispatcher: Dispatcher,
  origin: string,
  request: SendRequest,
  sink: RelaySink,
): Promise<RelayOutcome> {
  return new Promise((resolve) => {
    let started = false;
    let status = 0;
    let headers: ResponseHeaders = {};
    const chunks: Buffer[] = [];
    try {
      dispatcher.dispatch(
        {
          origin,
          path: request.path,
          method: request.method,
          headers: request.headers,
          body: request.body,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        {
          onRequestStart(controller) {
            started = true;
            const cancel = () => controller.abort(new Error('cancelled'));
            if (request.signal?.aborted) cancel();
            else request.signal?.addEventListener('abort', cancel, { once: true });
          },
          onResponseStart(_controller, statusCode, responseHeaders) {
            status = statusCode;
            headers = responseHeaders;
            if (status === 200) sink.open(String(headers['content-type'] ?? 'text/event-stream; charset=utf-8'));
          },
          onResponseData(controller, chunk) {
            if (status !== 200) chunks.push(chunk as Buffer);
            else if (!sink.write(chunk as Buffer, () => controller.resume())) controller.pause();
          },
          onResponseEnd() {
            if (status !== 200) return resolve({ kind: 'response', status, headers, body: Buffer.concat(chunks) });
            sink.end();
            resolve({ kind: 'relayed' });
          },
          onResponseError(_controller, error) {
            const detail = describeNetworkError(error);
            if (status === 200) return resolve({ kind: 'broken_off', detail });
            resolve(started ? { kind: 'lost', detail, headSeen: status !== 0 } : { kind: 'unreachable', detail });
          },
        },
      );
    } catch (error) {
      resolve({ kind: 'unreachable', detail: describeNetworkError(error as Error) });
    }
  });
}
