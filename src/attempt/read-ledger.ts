import type { CaptureStrategy } from '../call/strategy/strategy.ts';
import type { Context } from '../context.ts';
import { type AttemptSnapshot, manifestedCalls } from '../ledger/ledger.ts';

const PAGE = 200;

/** The parts of a ledger's or manifest's JSON text, page by page: 10,000 calls are never in memory at once. */
export type JsonParts = AsyncIterable<string>;

/**
 * The ledger of an attempt (protocol section 7, ours): an envelope around the peers' manifest. `retired` is answered 410. Everything but the records is
 * taken at one moment; the records up to that moment follow in their own texts.
 */
export async function readLedger(ctx: Context, attempt: string): Promise<JsonParts | 'retired'> {
  const snapshot = await ctx.ledger.snapshot(attempt);
  return snapshot === 'retired' ? 'retired' : ledgerParts(ctx, attempt, snapshot);
}

/** The same under the peers' name: the manifest alone. */
export async function readManifest(ctx: Context, attempt: string): Promise<JsonParts | 'retired'> {
  const snapshot = await ctx.ledger.snapshot(attempt);
  if (snapshot === 'retired') return 'retired';
  return manifestParts(ctx, attempt, snapshot, []);
}

async function* ledgerParts(ctx: Context, attempt: string, snapshot: AttemptSnapshot): AsyncIterable<string> {
  const complete = snapshot.state === 'closed' && snapshot.pendingCallIds.length === 0;
  yield `{"attempt":${JSON.stringify(attempt)},"state":"${snapshot.state}","complete":${complete},"manifest":`;
  const defects: Failure[] = [];
  yield* manifestParts(ctx, attempt, snapshot, defects);
  const refused = snapshot.refused.map(({ callId, code }) => ({ model_call_id: callId, code }));
  const whyRoot = snapshot.whyRoot.map(({ callId, json }) => `${JSON.stringify(callId)}:${json}`).join(',');
  yield `${ctx.strategy.besideManifest(headOf(snapshot, defects))},"refused":${JSON.stringify(refused)},"why_root":{${whyRoot}}}`;
}

type Failure = { callId: string; reason: string };

async function* manifestParts(
  ctx: Context,
  attempt: string,
  snapshot: AttemptSnapshot,
  defects: Failure[],
): AsyncIterable<string> {
  yield ctx.strategy.manifestBefore(attempt);
  let separator = '';
  for (let from = 0; from < snapshot.recordCount; from += PAGE) {
    const texts = await ctx.ledger.records(attempt, from, Math.min(PAGE, snapshot.recordCount - from));
    if (texts.length === 0)
      throw new Error(`records ${from} to ${snapshot.recordCount} of ${attempt} went away while they were read`);
    const sound = texts.filter((text) => !isDefective(text, defects));
    if (sound.length === 0) continue;
    yield separator + sound.join(',');
    separator = ',';
  }
  yield ctx.strategy.manifestAfter(headOf(snapshot, defects));
}

function headOf(
  snapshot: AttemptSnapshot,
  defects: readonly Failure[],
): Parameters<CaptureStrategy['manifestAfter']>[0] {
  return {
    closed: snapshot.state === 'closed',
    attemptedCallIds: manifestedCalls(snapshot),
    pendingCallIds: snapshot.pendingCallIds,
    failures: [...snapshot.failures, ...defects],
  };
}

const HAS_RESPONSE_ID = /"response_id":"[^"]/;
const HAS_HASHES = /"chain_hash":"[0-9a-f]{64}","cumulative_hash":"[0-9a-f]{64}"/;

/**
 * A stored row that lacks its response id or a hash (section 6, last row) is no record: it is left out and reported as a failure. Quotes inside of texts are escaped, so
 * these patterns only match members. Nothing that this service writes is defective; rows can come from elsewhere.
 */
function isDefective(text: string, defects: Failure[]): boolean {
  const reason = !HAS_RESPONSE_ID.test(text)
    ? 'ledger_row_missing_response_id'
    : !HAS_HASHES.test(text)
      ? 'ledger_row_missing_chain_hash'
      : null;
  if (reason === null) return false;
  defects.push({ callId: (JSON.parse(text) as { model_call_id: string }).model_call_id, reason });
  return true;
}
