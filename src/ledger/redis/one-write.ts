import { Redis } from 'ioredis';
import { IdleTurn } from '../idle-turn.ts';
import type { Client } from './client.ts';

/** How long a command may wait for more to go with it. */
const GATHER_MS = 1;

/**
 * Lets the commands of one busy moment leave in one write, and so come back in one read: each write costs more than most commands. The client's own pipelining would
 * do the same, but makes each command twice. Not on a Cluster, where the client chooses the connection.
 */
export class OneWrite {
  readonly #client: Client;
  #held: Redis['stream'] | undefined;
  readonly #idleTurn = new IdleTurn(GATHER_MS, () => this.#release());

  constructor(client: Client) {
    this.#client = client;
  }

  /** To be called before a command: holds back what is written from now on. */
  hold(): void {
    const client = this.#client;
    if (!(client instanceof Redis) || client.status !== 'ready' || client.stream === this.#held) return;
    this.#release();
    this.#held = client.stream;
    client.stream.cork();
    this.#idleTurn.await();
  }

  #release(): void {
    this.#idleTurn.cancel();
    this.#held?.uncork();
    this.#held = undefined;
  }
}
