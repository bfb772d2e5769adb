import { randomUUID } from 'node:crypto';
import type { AttemptOverview, LedgerGauges } from '../ledger.ts';
import type { LedgerOptions } from '../options.ts';
import type { Connection, Runner } from './connection.ts';
import { listKey } from './keys.ts';

const BATCH = 100;
const NAMES_PER_CENSUS = 500;
/** An admission follows its registration well within this time. */
const QUIET_S = '60';

type Overview = Omit<AttemptOverview, 'state'> & {
  /** `unknown`: nothing is kept of it. */
  readonly state: AttemptOverview['state'] | 'unknown';
  readonly unsettled: number;
  readonly oldestS: number | null;
};

/**
 * The lists of attempts outside their hash slots: `names` (all of them), `live` (those that may be open or pending). Lists may name too much, never too
 * little; a census now and then, by one replica for all, takes out what does not belong there, counts for the gauges, and deletes abandoned attempts.
 */
export class Census {
  readonly #connection: Connection;
  readonly #durable: Runner;
  readonly #options: LedgerOptions;
  #cursor = '';

  /** `durable`: for what the lists are told, and for what an attempt is taken from them. */
  constructor(connection: Connection, durable: Runner, options: LedgerOptions) {
    this.#connection = connection;
    this.#durable = durable;
    this.#options = options;
  }

  /** Puts an attempt into the lists that no replica admits to (yet). */
  async list(attempt: string): Promise<void> {
    await this.#durable.run('register', '', [attempt, '']);
  }

  async isListed(attempt: string): Promise<boolean> {
    return (await this.#connection.command('ZSCORE', listKey('names'), attempt)) !== null;
  }

  /** Takes the census unless another replica did so just now. Returns the attempts that were deleted as abandoned. */
  async take(): Promise<string[]> {
    const intervalMs = String(Math.max(1, Math.floor((this.#options.leaseS * 1000) / 6)));
    const mine = await this.#connection.command(
      'SET',
      listKey('census'),
      this.#options.replica,
      'PX',
      intervalMs,
      'NX',
    );
    if (mine === null) return [];
    await this.#countLive();
    return this.#visitNames();
  }

  async #countLive(): Promise<void> {
    const live = (await this.#connection.command('ZRANGE', listKey('live'), '0', '-1')) as string[];
    let openAttempts = 0;
    let pendingCalls = 0;
    let oldestPendingS: number | null = null;
    for (let from = 0; from < live.length; from += BATCH) {
      for (const overview of await this.#overviews(live.slice(from, from + BATCH))) {
        const isOpen = overview.state === 'open';
        if (isOpen) openAttempts += 1;
        pendingCalls += overview.pending;
        if (overview.oldestS !== null)
          oldestPendingS = Math.min(overview.oldestS, oldestPendingS ?? Number.POSITIVE_INFINITY);
        if (!isOpen && overview.pending === 0) await this.#unlist(overview);
      }
    }
    const oldest = oldestPendingS === null ? '' : String(oldestPendingS);
    await this.#connection.command(
      'HSET',
      listKey('gauges'),
      ...['openAttempts', String(openAttempts), 'pendingCalls', String(pendingCalls), 'oldestPendingS', oldest],
    );
  }

  /** Looks at a portion of all names per census, round and round. */
  async #visitNames(): Promise<string[]> {
    const names = await this.#namesAfter(this.#cursor, NAMES_PER_CENSUS);
    this.#cursor = names.length < NAMES_PER_CENSUS ? '' : names.at(-1)!;
    const abandoned: string[] = [];
    const { abandonedAfterS, now } = this.#options;
    for (let from = 0; from < names.length; from += BATCH) {
      for (const overview of await this.#overviews(names.slice(from, from + BATCH))) {
        if (overview.state === 'unknown') await this.#unlist(overview);
        else if (
          abandonedAfterS !== null &&
          overview.unsettled === 0 &&
          overview.lastActivityS < now() - abandonedAfterS
        ) {
          const args = ['abandon', randomUUID(), String(now()), String(now() - abandonedAfterS)];
          if ((await this.#connection.run('remove', overview.attempt, args)) === 1) abandoned.push(overview.attempt);
        }
      }
    }
    return abandoned;
  }

  /** Looks once more, durably: what was seen may be undone by a failover, and the lists may never name too little. */
  async #unlist({ attempt, state }: Overview): Promise<void> {
    const [again] = await this.#overviews([attempt], this.#durable);
    if (again?.state !== state) return;
    await this.#connection.run('unlist', '', [attempt, QUIET_S, state === 'unknown' ? '1' : '0']);
  }

  async gauges(): Promise<Omit<LedgerGauges, 'keptReplyBytes'>> {
    const fields = ['openAttempts', 'pendingCalls', 'oldestPendingS'];
    const [open, pending, oldest] = (await this.#connection.command('HMGET', listKey('gauges'), ...fields)) as (
      | string
      | null
    )[];
    return {
      openAttempts: Number(open ?? 0),
      pendingCalls: Number(pending ?? 0),
      oldestPendingS: oldest ? Number(oldest) : null,
    };
  }

  /** See Ledger.attempts. */
  async page(cursor: string | null, limit: number): Promise<AttemptOverview[]> {
    const page: AttemptOverview[] = [];
    let after = cursor ?? '';
    while (page.length < limit) {
      const names = await this.#namesAfter(after, Math.max(limit, BATCH));
      for (const { unsettled: _, oldestS: __, state, ...overview } of await this.#overviews(names)) {
        if (state !== 'unknown' && page.length < limit) page.push({ ...overview, state });
      }
      if (names.length < Math.max(limit, BATCH)) break;
      after = names.at(-1)!;
    }
    return page;
  }

  async #namesAfter(name: string, limit: number): Promise<string[]> {
    const from = name === '' ? '-' : `(${name}`;
    return (await this.#connection.command(
      'ZRANGEBYLEX',
      listKey('names'),
      from,
      '+',
      'LIMIT',
      '0',
      String(limit),
    )) as string[];
  }

  #overviews(attempts: readonly string[], runner: Runner = this.#connection): Promise<Overview[]> {
    return Promise.all(
      attempts.map(async (attempt) => {
        const reply = (await runner.run('overview', attempt, [])) as [
          string,
          number,
          number,
          number,
          number,
          string,
          number,
          string,
        ];
        const [state, records, pending, failures, refused, lastActivityS, unsettled, oldestS] = reply;
        return {
          attempt,
          state: state === '' ? 'unknown' : (state as AttemptOverview['state']),
          records,
          pending,
          failures,
          refused,
          lastActivityS: Number(lastActivityS),
          unsettled,
          oldestS: oldestS === '' ? null : Number(oldestS),
        };
      }),
    );
  }
}
