import { randomUUID } from 'node:crypto';
import { ChangeSignals } from '../change-signals.ts';
import { KeptReplies } from '../kept-replies.ts';
import {
  type AdmitOutcome,
  type AdmitRefusal,
  type AdmitRequest,
  type AttemptOverview,
  type AttemptSnapshot,
  type CommitOutcome,
  type CommitRequest,
  type Ledger,
  type LedgerCheck,
  type LedgerGauges,
  LedgerUnavailable,
  type ProposeOutcome,
  type ProposeRequest,
  type Removal,
  type ReplyState,
  type StoredSketch,
  type SweepReport,
} from '../ledger.ts';
import { DEFAULT_OPERATION_TIMEOUT_MS, type LedgerOptions } from '../options.ts';
import { readInPages } from '../pages.ts';
import { Census } from './census.ts';
import { checkRedis } from './checks.ts';
import type { RedisUrl } from './client.ts';
import { Connection, type Runner } from './connection.ts';
import { Deliveries } from './deliveries.ts';
import { ReplicatedRunner } from './durability.ts';
import { attemptKey } from './keys.ts';
import { LostAdmissions } from './lost-admissions.ts';
import { Registrations } from './registrations.ts';
import { Sweeper } from './sweeper.ts';
import { admitArgs, commitArgs, readCandidate, readSketch, searchArgs, splitRow } from './wire.ts';

/** Another replica's changes are not told here: those who wait look again after so long. */
const LOOK_AGAIN_MS = 200;
const REMOVALS_AT_ONCE = 64;

/** Any attempt will do: to ask for it shows that the server answers, and costs one look-up. */
const PROBED_ATTEMPT = 'readiness';

/**
 * The ledger on Redis, for any number of replicas: single, Sentinel or Cluster. Each step on an attempt is one script in the attempt's hash slot (lua/); what
 * spans attempts is kept beside them (registrations.ts, sweeper.ts, census.ts).
 */
export class RedisLedger implements Ledger {
  readonly #options: LedgerOptions;
  readonly #connection: Connection;
  /** Where replicas must acknowledge what is promised. */
  readonly #replicated: ReplicatedRunner | null;
  /** For steps whose outcome is a promise, or the ground of one: what they wrote, and what they read, is as durable as the operator wants when they resolve. */
  readonly #durable: Runner;
  readonly #registrations: Registrations;
  readonly #sweeper: Sweeper;
  readonly #census: Census;
  readonly #lost: LostAdmissions;
  readonly #deliveries: Deliveries;
  /** Of this replica: the replies lie in the hash slots of their attempts, so no step could count them all. The server ends what a dead one left. */
  readonly #kept: KeptReplies<string>;
  readonly #changes = new ChangeSignals();

  constructor(url: RedisUrl, options: LedgerOptions) {
    const timeoutMs = options.operationTimeoutMs ?? DEFAULT_OPERATION_TIMEOUT_MS;
    const { wantDurability } = options;
    this.#options = options;
    this.#connection = new Connection(url, timeoutMs, (event) => options.onEvent?.(event));
    this.#replicated = wantDurability?.waitReplicas ? new ReplicatedRunner(url, wantDurability, timeoutMs) : null;
    this.#durable = this.#replicated ?? this.#connection;
    this.#registrations = new Registrations(this.#durable, options.replica);
    this.#sweeper = new Sweeper(this.#connection, this.#durable, options);
    this.#census = new Census(this.#connection, this.#durable, options);
    this.#lost = new LostAdmissions(this.#durable);
    this.#deliveries = new Deliveries(async (attempt, callIds) => {
      await this.#connection.run('delivered', attempt, [callIds.join(' ')]);
    });
    this.#kept = new KeptReplies(options.replies, options.now);
  }

  async start(): Promise<void> {
    try {
      await this.#connection.start();
      this.#replicated?.start();
      await this.#sweeper.renewLease();
    } catch (error) {
      this.#disconnect();
      throw error;
    }
  }

  async stop(): Promise<void> {
    try {
      await this.#lost.settle();
      await this.#sweeper.releaseLease();
    } catch (error) {
      // The lease ends by itself, and whoever sweeps then settles what is left.
      this.#options.onEvent?.({ kind: 'background_failure', detail: (error as Error).message });
    } finally {
      this.#disconnect();
    }
  }

  #disconnect(): void {
    this.#connection.stop();
    this.#replicated?.stop();
  }

  admit(request: AdmitRequest): Promise<AdmitOutcome> {
    return this.#deliveries.takeAlong(request.attempt, (delivered) => this.#admit(request, delivered));
  }

  async #admit(request: AdmitRequest, delivered: readonly string[]): Promise<AdmitOutcome> {
    const { attempt, callId } = request;
    await this.#lost.settled(callId);
    let isRegistered = await this.#registrations.ensure(attempt);
    for (;;) {
      const [kind, ...rest] = await this.#runAdmission(request, isRegistered, delivered);
      switch (kind) {
        case 'register':
          await this.#registrations.again(attempt);
          isRegistered = true;
          continue;
        case 'admitted': {
          const [why, namedCallId, recordsSeen, ...parts] = rest as [string, string, number, ...string[]];
          const candidate = readCandidate(attempt, parts, request.boundary);
          const rootedBy = why === '' ? null : (why as 'unmatched' | 'ambiguous' | 'named_parent');
          return { kind, candidate, rootedBy, ...(namedCallId !== '' && { namedCallId }), recordsSeen };
        }
        case 'joined':
          return { kind, callId: rest[0] as string };
        case 'unresolved':
          return { kind };
        case 'refused':
          return { kind, code: rest[0] as AdmitRefusal };
        case 'voided':
          throw new LedgerUnavailable(`the admission of ${callId} was given up; admit the call under another id`);
        default:
          throw new Error(`admit.lua answered ${kind}`);
      }
    }
  }

  async #runAdmission(
    request: AdmitRequest,
    isRegistered: boolean,
    delivered: readonly string[],
  ): Promise<[kind: string, ...rest: unknown[]]> {
    try {
      // The lists and the lease are those of this ledger's replica, so its intents are, too.
      const args = admitArgs({ ...request, replica: this.#options.replica }, isRegistered, delivered);
      return (await this.#durable.run('admit', request.attempt, args)) as [string];
    } catch (error) {
      // It may still arrive: nobody would settle what it records.
      if (error instanceof LedgerUnavailable && error.mayHappen) this.#lost.add(request.attempt, request.callId);
      throw error;
    }
  }

  async propose(request: ProposeRequest): Promise<ProposeOutcome> {
    const reply = (await this.#connection.run('propose', request.attempt, searchArgs(request))) as [
      string,
      ...string[],
    ];
    const [kind, ...parts] = reply;
    if (kind === 'retired') return { kind: 'refused', code: 'attempt_retired' };
    if (kind === 'proposed') return { kind, candidate: readCandidate(request.attempt, parts, request.boundary) };
    const [reason] = parts;
    if (reason === 'unknown_parent') return { kind: 'refused', code: reason };
    if (reason === 'ambiguous' && request.onAmbiguous === 'refuse')
      return { kind: 'refused', code: 'ambiguous_candidate' };
    return { kind: 'proposed', candidate: null };
  }

  async commit(request: CommitRequest): Promise<CommitOutcome> {
    const { attempt, callId, replyJson } = request;
    const bytes = replyJson === null ? 0 : Buffer.byteLength(replyJson);
    const kept = replyJson !== null && this.#kept.fits(bytes) ? replyJson : null;
    const keepMs = Math.ceil(this.#options.replies.keepS * 1000);
    const outcome = (await this.#durable.run(
      'commit',
      attempt,
      commitArgs(request, kept, keepMs, this.#options.now()),
    )) as CommitOutcome;
    if (outcome === 'committed' && kept !== null) {
      for (const dropped of this.#kept.add(attempt, callId, bytes)) this.#drop(dropped.attempt, dropped.callId);
    }
    return this.#tell(attempt, outcome);
  }

  async settleRefused(attempt: string, callId: string, code: string): Promise<boolean> {
    return this.#tell(attempt, (await this.#durable.run('settle_refused', attempt, [callId, code])) === 1);
  }

  async addFailure(attempt: string, callId: string, reason: string): Promise<boolean> {
    return this.#tell(attempt, (await this.#durable.run('add_failure', attempt, [callId, reason])) === 1);
  }

  async clientGone(attempt: string, callId: string, waiter?: string): Promise<void> {
    await this.#connection.run('client_gone', attempt, [callId, waiter ?? '']);
  }

  async delivered(attempt: string, callId: string): Promise<void> {
    await this.#deliveries.add(attempt, callId);
    this.#kept.forget(attempt, callId);
  }

  async replyOf(attempt: string, callId: string): Promise<ReplyState> {
    type Found = [kind: ReplyState['kind'], replyJson: string];
    let [kind, replyJson] = (await this.#connection.run('reply_of', attempt, [callId])) as Found;
    // Another replica may have committed it just now.
    if (kind === 'finished' && this.#replicated !== null)
      [kind, replyJson] = (await this.#durable.run('reply_of', attempt, [callId])) as Found;
    return kind === 'finished' ? { kind, replyJson } : { kind };
  }

  async close(attempt: string): Promise<'closed' | 'retired'> {
    await this.#census.list(attempt);
    return this.#tell(
      attempt,
      (await this.#durable.run('close', attempt, [String(this.#options.now())])) as 'closed' | 'retired',
    );
  }

  async unsettled(attempt: string): Promise<number> {
    return (await this.#connection.command('ZCARD', attemptKey(attempt, 'unsettled'))) as number;
  }

  changed(attempt: string, waitMs: number): Promise<void> {
    return this.#changes.wait(attempt, Math.min(waitMs, LOOK_AGAIN_MS));
  }

  retire(attempts: readonly string[]): Promise<Removal> {
    return this.#remove(attempts, 'retire');
  }

  delete(attempts: readonly string[]): Promise<Removal> {
    return this.#remove(attempts, 'delete');
  }

  async #remove(attempts: readonly string[], mode: 'retire' | 'delete'): Promise<Removal> {
    const removal: Removal = { removed: [], absent: [] };
    const names = [...new Set(attempts)];
    const args = [mode, randomUUID(), String(this.#options.now()), ''];
    for (let from = 0; from < names.length; from += REMOVALS_AT_ONCE) {
      const some = names.slice(from, from + REMOVALS_AT_ONCE);
      const answers = await Promise.all(
        some.map(async (attempt) => {
          // What has calls is listed already, and a server without room for more can still be told to forget it.
          if (mode === 'retire' && !(await this.#census.isListed(attempt))) await this.#census.list(attempt);
          return this.#tell(attempt, await this.#durable.run('remove', attempt, args));
        }),
      );
      for (const [index, attempt] of some.entries())
        (answers[index] === 1 ? removal.removed : removal.absent).push(attempt);
    }
    return removal;
  }

  async snapshot(attempt: string): Promise<AttemptSnapshot | 'retired'> {
    const reply = (await this.#durable.run('snapshot', attempt, [])) as [
      string,
      number,
      string[],
      string[],
      string[],
      string[],
      string[],
      string[],
    ];
    const [state, recordCount, attemptedCallIds, unsettled, failed, failures, refused, roots] = reply;
    if (state === 'retired') return 'retired';
    const pending = new Set([...unsettled, ...failed]);
    return {
      state: state === 'closed' ? 'closed' : 'open',
      recordCount,
      attemptedCallIds,
      pendingCallIds: attemptedCallIds.filter((callId) => pending.has(callId)),
      failures: failures.map(splitRow).map(([callId, reason]) => ({ callId, reason })),
      refused: refused.map(splitRow).map(([callId, code]) => ({ callId, code })),
      whyRoot: roots.map(splitRow).map(([callId, json]) => ({ callId, json })),
    };
  }

  records(attempt: string, from: number, limit: number): Promise<string[]> {
    return this.#range(attempt, 'records', from, limit);
  }

  async sketches(attempt: string, before: number): Promise<StoredSketch[]> {
    const texts = await readInPages(before, (from, to) => this.#range(attempt, 'sketches', from, to - from));
    return texts.map(readSketch);
  }

  async #range(attempt: string, list: string, from: number, limit: number): Promise<string[]> {
    if (limit <= 0) return [];
    return (await this.#connection.command(
      'LRANGE',
      attemptKey(attempt, list),
      String(from),
      String(from + limit - 1),
    )) as string[];
  }

  attempts(cursor: string | null, limit: number): Promise<AttemptOverview[]> {
    return this.#census.page(cursor, limit);
  }

  async sweep(): Promise<SweepReport> {
    await this.#sweeper.renewLease();
    const { settled, ...report } = await this.#sweeper.settleOrphans();
    for (const voided of await this.#lost.settle())
      this.#options.onEvent?.({ kind: 'admission_voided', ...this.#tell(voided.attempt, voided) });
    for (const { attempt, callId } of this.#kept.takeExpired()) this.#drop(attempt, callId);
    await this.#registrations.releaseIdle();
    const abandoned = await this.#census.take();
    if (abandoned.length > 0) this.#options.onEvent?.({ kind: 'abandoned', attempts: abandoned });
    for (const attempt of [...settled, ...abandoned]) this.#changes.tell(attempt);
    return report;
  }

  /** As of the latest census; the bytes are those of this replica. */
  async gauges(): Promise<LedgerGauges> {
    return { ...(await this.#census.gauges()), keptReplyBytes: this.#kept.bytes };
  }

  async ready(): Promise<void> {
    await this.unsettled(PROBED_ATTEMPT);
  }

  check(): Promise<LedgerCheck[]> {
    return checkRedis(this.#connection.client, this.#options.wantDurability ?? {});
  }

  /** Nobody waits for this; the server ends the reply by itself if it fails. */
  #drop(attempt: string, callId: string): void {
    this.#connection.run('drop_reply', attempt, [callId]).catch((error: Error) => {
      this.#options.onEvent?.({ kind: 'background_failure', detail: error.message });
    });
  }

  #tell<T>(attempt: string, outcome: T): T {
    this.#changes.tell(attempt);
    return outcome;
  }
}
