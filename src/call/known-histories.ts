import type { Dialect } from '../protocol/conversation.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import { SeenValues } from '../protocol/json/known-values.ts';

/** An agent that needs longer for a turn has its history read anew. */
const IDLE_MS = 120_000;

/** The member of a request that grows from call to call. */
const HISTORY_MEMBER: Readonly<Record<Dialect, string>> = {
  responses: 'input',
  chat: 'messages',
  messages: 'messages',
};

interface Seen {
  readonly values: SeenValues;
  readonly bytes: number;
  readonly usedMs: number;
}

/**
 * What the latest requests of each attempt were parsed to, so that the part of a history that comes again byte for byte is neither parsed, converted nor hashed again
 * (docs/decisions/2026-11-30-unchanged-histories.md). Whatever is forgotten is read anew: nothing but time hangs on it.
 */
export class KnownHistories {
  readonly #limitBytes: number;
  readonly #nowMs: () => number;
  /** By dialect and attempt; the one that was not used for longest is the first. */
  readonly #seen = new Map<string, Seen>();
  #bytes = 0;

  /** `limitBytes`: of requests' bytes, what was made of them comes on top; 0 keeps nothing. */
  constructor(limitBytes: number, nowMs: () => number = performance.now.bind(performance)) {
    this.#limitBytes = limitBytes;
    this.#nowMs = nowMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What is known of an attempt, to parse its next request with; null where nothing is kept. */
  of(attempt: string, dialect: Dialect): SeenValues | null {
    if (this.#limitBytes === 0) return null;
    return this.#seen.get(keyOf(attempt, dialect))?.values ?? new SeenValues(HISTORY_MEMBER[dialect]);
  }

  /** Remembers a request that was parsed with `values`. */
  remember(attempt: string, dialect: Dialect, values: SeenValues, body: JsonNode): void {
    const key = keyOf(attempt, dialect);
    this.#forget(key);
    values.remember(body);
    const bytes = values.bytes;
    this.#seen.set(key, { values, bytes, usedMs: this.#nowMs() });
    this.#bytes += bytes;
    for (const [oldest, { usedMs }] of this.#seen) {
      if (this.#bytes <= this.#limitBytes && usedMs >= this.#nowMs() - IDLE_MS) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#seen.get(key)?.bytes ?? 0;
    this.#seen.delete(key);
  }
}

const keyOf = (attempt: string, dialect: Dialect) => `${dialect} ${attempt}`;
