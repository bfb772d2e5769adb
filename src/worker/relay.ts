import type { Dispatcher } from 'undici';
import { header, type SendOutcome, type SendRequest, send } from './send.ts';

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
export async function relay(connections: Dispatcher, request: SendRequest, sink: RelaySink): Promise<RelayOutcome> {
  let isStream = false;
  const outcome = await send(connections, request, {
    begin(status, headers) {
      const contentType = header(headers, 'content-type') ?? 'text/event-stream; charset=utf-8';
      isStream = status === 200 && !JSON_TYPE.test(contentType);
      if (isStream) sink.open(contentType);
      return isStream;
    },
    take(chunk, controller) {
      if (!sink.write(chunk, () => controller.resume())) controller.pause();
    },
  });
  if (!isStream) return outcome;
  if (outcome.kind !== 'response') return { kind: 'broken_off', detail: outcome.detail };
  sink.end();
  return { kind: 'relayed' };
}
