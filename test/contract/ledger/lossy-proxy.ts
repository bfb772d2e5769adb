import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy before a server, that loses what a network loses. */
export class LossyProxy {
  /**
   * `pass`: everything goes through. `lose_answers`: requests reach the server, answers get lost. `silent`: nothing gets through in either direction, and nobody
   * is told. `refuse`: connections are cut at once.
   */
  mode: 'pass' | 'lose_answers' | 'silent' | 'refuse' = 'pass';
  readonly #target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Requests that still may pass while their answers get lost; then the connection is cut and the proxy passes everything again. */
  #lossesLeft = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  static async start(target: number): Promise<LossyProxy> {
    const proxy = new LossyProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Lets the next `count` answers get lost, each with its connection. */
  loseAnswers(count: number): void {
    this.#lossesLeft = count;
  }

  get lossesLeft(): number {
    return this.#lossesLeft;
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cutAll();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    if (this.mode === 'refuse') {
      client.destroy();
      return;
    }
    const server = connect(this.#target, '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      // A cut connection is what this is for.
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
    client.on('data', (data) => {
      if (this.mode !== 'silent') server.write(data);
    });
    server.on('data', (data) => {
      if (this.mode === 'silent' || this.mode === 'lose_answers') return;
      if (this.#lossesLeft > 0 && !String(data).includes('redis_version')) {
        this.#lossesLeft -= 1;
        client.destroy();
        return;
      }
      client.write(data);
    });
  }
}
