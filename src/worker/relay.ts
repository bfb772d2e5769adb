import type { Dispatcher } from 'undici';
import type { ResponseHeaders, SendOutcome, SendRequest } from './send.ts';
import { describeNetworkError, header } from './send.ts';

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

const JSON_TYPE = /^application\/json\b/i;

/**
 * Sends one request and passes a 200 answer through as it comes, with back pressure. Anything else is collected and returned as `send` does, also a whole completion of
 * an engine that does not stream. Aborting `signal` cancels the engine's work.
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
    let isStream = false;
    const chunks: Buffer[] = [];
    let abort: ((reason: Error) => void) | undefined;
    const cancel = () => abort?.(new Error('cancelled'));
    const finish = (outcome: RelayOutcome) => {
      request.signal?.removeEventListener('abort', cancel);
      resolve(outcome);
    };
    request.signal?.addEventListener('abort', cancel);
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
            abort = (reason) => controller.abort(reason);
            if (request.signal?.aborted) cancel();
          },
          onResponseStart(_controller, statusCode, responseHeaders) {
            status = statusCode;
            headers = responseHeaders;
            const contentType = header(headers, 'content-type') ?? 'text/event-stream; charset=utf-8';
            isStream = status === 200 && !JSON_TYPE.test(contentType);
            if (isStream) sink.open(contentType);
          },
          onResponseData(controller, chunk) {
            if (!isStream) chunks.push(chunk as Buffer);
            else if (!sink.write(chunk as Buffer, () => controller.resume())) controller.pause();
          },
          onResponseEnd() {
            if (!isStream) return finish({ kind: 'response', status, headers, body: Buffer.concat(chunks) });
            sink.end();
            finish({ kind: 'relayed' });
          },
          onResponseError(_controller, error) {
            const detail = describeNetworkError(error);
            if (isStream) return finish({ kind: 'broken_off', detail });
            finish(started ? { kind: 'lost', detail, headSeen: status !== 0 } : { kind: 'unreachable', detail });
          },
        },
      );
    } catch (error) {
      finish({ kind: 'unreachable', detail: describeNetworkError(error as Error) });
    }
  });
}
