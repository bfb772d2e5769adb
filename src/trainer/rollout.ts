import type { CallRecord } from '../protocol/wire/ledger.ts';
import { isLengthLimited, isLengthReason } from './completion.ts';
import { buildForest, type Forest } from './forest.ts';
import { guardLedger, guardSelected } from './guards.ts';
import type { LedgerView } from './ledger-view.ts';
import { type Checked, type Reason, reason } from './reasons.ts';
import type { HarnessResult } from './result.ts';
import { buildRows, type Row, type RowNames } from './rows.ts';
import type { Selection, SelectionPolicy } from './selection/selection.ts';
import { fetchStaged, type StagedStore } from './staged/staged-store.ts';
import { verifyRecords } from './verify-records.ts';

/** What became of one rollout: its rows, all of them verified, or the reasons why it has none. All of the rollout or nothing. */
export type RolloutOutcome =
  | {
      readonly kind: 'rows';
      readonly attempt: string;
      readonly ledger: LedgerView;
      readonly selection: Selection;
      readonly forest: Forest;
      readonly rows: readonly Row[];
      readonly reward: number;
      /** A selected call was cut for length. */
      readonly truncated: boolean;
    }
  | {
      readonly kind: 'masked';
      readonly attempt: string;
      readonly reasons: readonly Reason[];
      readonly ledger: LedgerView | null;
      readonly selection: Selection | null;
      readonly reward: number | null;
      readonly truncated: boolean;
    };

export interface RolloutInput {
  /** Names the rollout where the ledger cannot. */
  readonly attempt: string;
  readonly ledger: Checked<LedgerView>;
  readonly result: Checked<HarnessResult>;
  readonly policy: SelectionPolicy;
  readonly staged: StagedStore;
  /** Row ids; default {@link namesOf} the attempt. */
  readonly names?: RowNames | undefined;
}

/**
 * From ledger, result and staged records to the rows of one rollout (protocol section 11): selection, guards, forest, staged records, rows.
 * Everything that speaks against the rollout is a `masked` outcome; only a store that cannot be asked throws.
 */
export async function buildRollout(input: RolloutInput): Promise<RolloutOutcome> {
  const plan = await planRollout(input);
  if (plan.kind === 'masked') return plan;
  const { ledger, selection, forest, reward, truncated, attempt } = plan;
  const lookups = await fetchStaged(
    input.staged,
    selection.calls.map((record) => record.staging_key),
  );
  const rows = buildRows(forest, lookups, input.names ?? namesOf(attempt));
  if (rows.ok) return { kind: 'rows', attempt, ledger, selection, forest, rows: rows.value, reward, truncated };
  return { kind: 'masked', attempt, reasons: rows.reasons, ledger, selection, reward, truncated };
}

/** What is known of a rollout before any token is read. */
export type RolloutPlan =
  | {
      readonly kind: 'plan';
      readonly attempt: string;
      readonly ledger: LedgerView;
      readonly selection: Selection;
      readonly forest: Forest;
      readonly reward: number;
      readonly truncated: boolean;
    }
  | Extract<RolloutOutcome, { kind: 'masked' }>;

/** Selection, guards and forest: everything of {@link buildRollout} that needs no staged record. */
export async function planRollout(input: Omit<RolloutInput, 'staged' | 'names'>): Promise<RolloutPlan> {
  const ledger = input.ledger.ok ? input.ledger.value : null;
  const result = input.result.ok ? input.result.value : null;
  const attempt = ledger?.attempt ?? input.attempt;
  const reward = result?.reward ?? null;
  const masked = (reasons: readonly Reason[], selection: Selection | null = null): RolloutPlan => ({
    kind: 'masked',
    attempt,
    reasons,
    ledger,
    selection,
    reward,
    truncated: selection !== null && isTruncated(selection, result),
  });
  const unread = [input.ledger, input.result].flatMap((checked): readonly Reason[] =>
    checked.ok ? [] : checked.reasons,
  );
  if (ledger === null || result === null)
    return masked([...unread, ...(ledger === null ? [] : guardLedger(ledger, null))]);

  const rewardMissing =
    reward === null ? [reason('reward_missing', 'the result has no finite number as its reward')] : [];
  const selected = await input.policy.select(ledger, result);
  if (!selected.ok) return masked([...guardLedger(ledger, null), ...selected.reasons, ...rewardMissing]);
  const selection = selected.value;
  const { calls } = selection;
  const reasons = [
    ...guardLedger(ledger, calls),
    ...guardSelected(ledger, calls),
    ...verifyRecords(ledger, calls),
    ...rewardMissing,
  ];
  const forest = reasons.some(({ code }) => LENGTHS.has(code)) ? null : buildForest(ledger, calls);
  if (forest?.ok === false) reasons.push(...forest.reasons);
  if (reasons.length > 0 || forest === null || !forest.ok || reward === null) return masked(reasons, selection);
  return {
    kind: 'plan',
    attempt,
    ledger,
    selection,
    forest: forest.value,
    reward,
    truncated: isTruncated(selection, result),
  };
}

/** With these nothing can be built on the lengths of the records. */
const LENGTHS: ReadonlySet<string> = new Set(['length_mismatch', 'not_contiguous']);

/** Records of schema 2 do not say how a call ended; there the scored response itself tells whether it was cut. */
function isTruncated({ calls }: Selection, result: HarnessResult | null): boolean {
  if (calls.some(isLengthLimited)) return true;
  const scored = result?.response ?? result?.responses?.at(-1) ?? null;
  return (
    calls.some((record: CallRecord) => record.schema_version === 2) && isLengthReason(scored?.incompleteReason ?? null)
  );
}

/** Group and slot of an attempt named `{group}_g{slot}`; any other attempt is a group of its own. */
export function namesOf(attempt: string): RowNames {
  const parts = /^(.+)_g(0|[1-9]\d{0,8})$/.exec(attempt);
  return { attempt, group: parts?.[1] ?? attempt, slot: Number(parts?.[2] ?? 0) };
}
