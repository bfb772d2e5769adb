import type { ServerResponse } from 'node:http';
import type { ServiceError } from '../errors.ts';
import type { Dialect } from '../protocol/conversation.ts';
import type { RelaySink } from '../worker/relay.ts';
import { errorEvents, errorReply } from './render-error.ts';

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Buffering intermediaries would hold keepalives back.
  'x-accel-buffering': 'no',
};

/**
 * The way back to the agent. While the answer of a streamed call is awaited it opens the stream after a grace period and keeps idle timers alive with comment
 * lines; until then an error is a real HTTP status, after it the dialect's own error event. It knows whether the agent is still there, and whether
 * the reply was handed over in full.
 */
export class AgentChannel implements RelaySink {
  readonly dialect: Dialect;
  private readonly response: ServerResponse;
  private readonly callHeaders: Record<string, string> = {};
  private timer: NodeJS.Timeout | undefined;
  private streaming = false;
  private status = 0;
  private gone = false;
  private readonly isDraining: () => boolean;
  /** Resolves true when the reply was handed over in full, false when the agent went away before. */
  readonly handedOver: Promise<boolean>;

  /** `isDraining`: the process was told to stop, so replies close their connections. */
  constructor(dialect: Dialect, response: ServerResponse, isDraining: () => boolean = () => false) {
    this.dialect = dialect;
    this.response = response;
    this.isDraining = isDraining;
    // The request's: a response gets its socket when those before it on the connection are through, and lets go of it before our listener runs.
    const { socket } = response.req;
    this.handedOver = new Promise((resolve) => {
      response.once('finish', () => resolve(!socket.destroyed));
      response.once('close', () => {
        this.gone = !response.writableFinished;
        clearTimeout(this.timer);
        resolve(false);
      });
    });
    if (response.destroyed || socket.destroyed) this.gone = true;
  }

  get isGone(): boolean {
    return this.gone;
  }

  /** Status of what was sent; 0 while nothing was. */
  get sentStatus(): number {
    return this.status;
  }

  /** Names the call in a reply header, for people who compare logs. */
  name(callId: string): void {
    this.callHeaders['x-request-id'] = callId;
  }

  /** An answer is awaited: a stream gets its head after the grace period and comments from then on. */
  awaitAnswer(stream: boolean, times: { readonly graceMs: number; readonly keepaliveMs: number }): void {
    if (!stream) return;
    const beat = () => {
      if (this.gone) return;
      if (!this.streaming) this.openStream();
      this.response.write(': waiting\n\n');
      this.timer = setTimeout(beat, Math.min(times.keepaliveMs, LONGEST_TIMER_MS));
    };
    this.timer = setTimeout(beat, Math.min(times.graceMs, LONGEST_TIMER_MS));
  }

  /** Sends the finished reply: JSON with its length, or the rendered event stream. */
  send(body: Buffer, stream: boolean): void {
    clearTimeout(this.timer);
    if (this.gone) return;
    this.status = 200;
    // Known in full: one write with its length, unless comments are out already.
    if (!this.streaming) {
      this.response.writeHead(200, {
        ...(stream ? SSE_HEADERS : { 'content-type': 'application/json; charset=utf-8' }),
        'content-length': body.length,
        ...this.headers(),
      });
    }
    this.response.end(body);
  }

  /** Sends an error: a status with the dialect's envelope, or its error event where a head is out. */
  fail(error: ServiceError): void {
    clearTimeout(this.timer);
    if (this.gone || this.response.writableEnded) return;
    this.status = error.status;
    if (this.streaming) {
      this.response.end(errorEvents(this.dialect, error));
      return;
    }
    const reply = errorReply(this.dialect, error);
    this.response.writeHead(reply.status, { ...reply.headers, ...this.headers() });
    this.response.end(reply.body);
  }

  open(contentType: string): void {
    if (this.gone) return;
    this.streaming = true;
    this.status = 200;
    this.response.writeHead(200, { ...SSE_HEADERS, 'content-type': contentType, ...this.headers() });
    this.response.flushHeaders();
  }

  write(chunk: Buffer, drained: () => void): boolean {
    if (this.gone || this.response.write(chunk)) return true;
    this.response.once('drain', drained);
    return false;
  }

  end(): void {
    this.response.end();
  }

  whenGone(callback: () => void): void {
    this.response.once('close', () => {
      if (!this.response.writableFinished) callback();
    });
  }

  private openStream(): void {
    this.streaming = true;
    this.response.writeHead(200, { ...SSE_HEADERS, ...this.headers() });
  }

  private headers(): Record<string, string> {
    return this.isDraining() ? { ...this.callHeaders, connection: 'close' } : this.callHeaders;
  }
}
