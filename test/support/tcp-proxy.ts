import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Which way bytes go: `up` from the client to the server, `down` back. */
export type Way = 'up' | 'down';

/** What happens to a connection; without members it is passed through. */
export interface LinkFault {
  /** Reset as soon as it is accepted; the server never sees it. */
  readonly refuse?: boolean;
  /** How long every chunk waits, by way. */
  readonly delayMs?: Partial<Record<Way, number>>;
  /** Both sides are reset when so many bytes have gone this way; those bytes were sent. */
  readonly cutAfter?: { readonly way: Way; readonly bytes: number };
  /** The receiving side sees the end of the stream after so many bytes; the other way goes on. */
  readonly halfCloseAfter?: { readonly way: Way; readonly bytes: number };
}

/** One connection through the proxy. */
export interface Link {
  /** Counted from 0. */
  readonly index: number;
  readonly open: boolean;
  readonly bytes: Readonly<Record<Way, number>>;
}

/** A TCP proxy that can be told to misbehave. It knows nothing of what crosses it. */
export interface TcpProxy {
  readonly port: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Every connection so far. */
  readonly links: readonly Link[];
  /** What happens to connections from now on; `null`: nothing. */
  setFault(fault: LinkFault | null): void;
  /** What happens to the next connections, one each, before `setFault` counts again. */
  next(...faults: LinkFault[]): void;
  /**
   * The next `count` chunks that come down, on whatever connection, do not arrive: their connection is cut instead. The request was acted on, its answer is lost.
   */
  loseAnswers(count: number): void;
  /** Every chunk waits so long on its way, on open connections too; 0 ends it. */
  slow(ms: number): void;
  /** Resets open connections, on both sides or on one: the other side then hears nothing. Says how many. */
  cut(side?: 'both' | 'client' | 'server'): number;
  /** Ends one way of the open connections, as a shutdown of that half. */
  halfClose(way: Way): void;
  /** No byte moves, on open connections and new ones, until `resume`. */
  stall(): void;
  resume(): void;
  /** Resolves when so many connections were accepted, refused ones included. */
  whenLinked(count: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Listens on a free port (or `port`) of 127.0.0.1 and forwards to `target`. */
export async function startTcpProxy(
  target: { readonly host?: string; readonly port: number },
  options: { readonly port?: number } = {},
): Promise<TcpProxy> {
  const links: OpenLink[] = [];
  const changes = new EventEmitter().setMaxListeners(0);
  let fault: LinkFault | null = null;
  let queued: LinkFault[] = [];
  const gate = new Gate();
  // Half-open connections are kept: who ends what is this proxy's matter.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const link = new OpenLink(links.length, client, target, queued.shift() ?? fault ?? {}, gate);
    links.push(link);
    changes.emit('link');
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = () => links.filter((link) => link.open);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    links,
    setFault: (next) => {
      fault = next;
      queued = [];
    },
    next: (...faults) => {
      queued.push(...faults);
    },
    cut: (side = 'both') => {
      const cut = open();
      for (const link of cut) link.cut(side);
      return cut.length;
    },
    halfClose: (way) => {
      for (const link of open()) link.halfClose(way);
    },
    loseAnswers: (count) => {
      gate.answersToLose = count;
    },
    slow: (ms) => {
      gate.delayMs = ms;
    },
    stall: () => gate.shut(),
    resume: () => gate.reopen(),
    async whenLinked(count, signal) {
      while (links.length < count) await once(changes, 'link', signal === undefined ? {} : { signal });
    },
    async close() {
      gate.reopen();
      for (const link of open()) link.cut('both');
      server.close();
      await once(server, 'close');
    },
  };
}

/** What holds for every connection: whether bytes pass, how late, and how many answers are lost. */
class Gate {
  delayMs = 0;
  answersToLose = 0;
  private waiting: { promise: Promise<void>; open: () => void } | null = null;

  shut(): void {
    if (this.waiting !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting = { promise, open: resolve };
  }

  reopen(): void {
    this.waiting?.open();
    this.waiting = null;
  }

  passage(): Promise<void> | null {
    return this.waiting?.promise ?? null;
  }
}

class OpenLink implements Link {
  readonly index: number;
  readonly bytes: Record<Way, number> = { up: 0, down: 0 };
  private readonly client: Socket;
  private readonly server: Socket | null;
  private readonly fault: LinkFault;
  private readonly gate: Gate;
  /** One side was cut alone: the other is not to hear of it. */
  private silent = false;

  constructor(index: number, client: Socket, target: { host?: string; port: number }, fault: LinkFault, gate: Gate) {
    this.index = index;
    this.client = client;
    this.fault = fault;
    this.gate = gate;
    client.on('error', () => this.lost(this.server));
    if (fault.refuse === true) {
      this.server = null;
      client.resetAndDestroy();
      return;
    }
    const server = connect({ host: target.host ?? '127.0.0.1', port: target.port, allowHalfOpen: true, noDelay: true });
    this.server = server;
    server.on('error', () => this.lost(client));
    this.pump('up', client, server);
    this.pump('down', server, client);
  }

  get open(): boolean {
    return !this.client.destroyed || this.server?.destroyed === false;
  }

  cut(side: 'both' | 'client' | 'server'): void {
    this.silent ||= side !== 'both';
    if (side !== 'server') reset(this.client);
    if (side !== 'client' && this.server !== null) reset(this.server);
  }

  halfClose(way: Way): void {
    (way === 'up' ? this.server : this.client)?.end();
  }

  /** One chunk after the other, so that a delay or a stall keeps their order. */
  private async pump(way: Way, from: Socket, to: Socket): Promise<void> {
    try {
      for await (const chunk of from.iterator({ destroyOnReturn: false })) {
        const delayMs = (this.fault.delayMs?.[way] ?? 0) + this.gate.delayMs;
        if (delayMs > 0) await sleep(delayMs);
        for (let shut = this.gate.passage(); shut !== null; shut = this.gate.passage()) await shut;
        if (way === 'down' && this.gate.answersToLose > 0) {
          this.gate.answersToLose -= 1;
          this.cut('both');
          return;
        }
        if (!(await this.forward(way, chunk as Buffer, to))) return;
      }
      if (!to.destroyed && !this.silent) to.end();
    } catch {
      this.lost(to);
    }
  }

  /** A side vanished: so does the other. */
  private lost(other: Socket | null): void {
    if (!this.silent && other !== null) reset(other);
  }

  /** False: nothing more goes this way. */
  private async forward(way: Way, chunk: Buffer, to: Socket): Promise<boolean> {
    const cutAt = limit(this.fault.cutAfter, way);
    const endAt = limit(this.fault.halfCloseAfter, way);
    const left = Math.min(cutAt, endAt) - this.bytes[way];
    const sent = chunk.subarray(0, Math.max(0, Math.min(chunk.length, left)));
    this.bytes[way] += sent.length;
    if (sent.length > 0) await written(to, sent);
    if (this.bytes[way] >= cutAt) {
      this.cut('both');
      return false;
    }
    if (this.bytes[way] < endAt) return !to.destroyed;
    to.end();
    return false;
  }
}

function limit(at: { readonly way: Way; readonly bytes: number } | undefined, way: Way): number {
  return at?.way === way ? at.bytes : Number.POSITIVE_INFINITY;
}

/** Resolves when the kernel has the bytes, so that a reset after it does not overtake them in this process. */
function written(to: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (to.destroyed) resolve();
    else to.write(bytes, () => resolve());
  });
}

/**
 * Ends a connection without a goodbye: the peer sees a reset. A socket that is being shut down cannot be reset: Node would keep its handle, and hang
 * when the process ends.
 */
function reset(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
