import { explainGroup, type GroupMember } from '../explain/explain-group.ts';
import { explainRollout } from '../explain/explain-rollout.ts';
import { type GroupVerdict, weighGroup } from '../groups.ts';
import type { HttpOptions } from '../http.ts';
import { type Judgement, judgeRollout } from '../judge.ts';
import { readLedger } from '../ledger-client.ts';
import type { Reason } from '../reasons.ts';
import { parseHarnessResult } from '../result.ts';
import { buildRollout, namesOf, type RolloutOutcome } from '../rollout.ts';
import { unweightedRow } from '../training-row.ts';
import { type PlannedGroup, type RewardOnly, type RolloutSources, readTrainerLogprobs } from './group-file.ts';
import { rowHead, rowTail } from './row-lines.ts';
import type { RowOutput } from './row-output.ts';
import { RowSpool } from './row-spool.ts';
import { type RowsPlan, RowsUsageError, readResultText } from './rows-options.ts';
import type { StagedSources } from './staged-sources.ts';

/** What a run of one group came to; small, whatever the size of its rows. */
export interface GroupRun {
  readonly group: string;
  readonly members: readonly RolloutRun[];
  readonly verdict: GroupVerdict;
  readonly rows: number;
  /** Lines for a person, if they were asked for. */
  readonly explanation: readonly string[];
}

export interface RolloutRun extends GroupMember {
  /** Null where only the reward is known. */
  readonly attempt: string | null;
  readonly selected: readonly string[] | null;
  readonly reasons: readonly Reason[];
  readonly countsInBaseline: boolean;
  readonly truncated: boolean;
  readonly sequenceError: number | null;
}

export interface GroupContext {
  readonly plan: RowsPlan;
  /** Groups and attempts that were taken so far: row ids and tokens must not come twice. */
  readonly taken: Set<string>;
  readonly staged: StagedSources;
  readonly http: HttpOptions;
  readonly output: RowOutput;
  readonly explain: boolean;
}

/** Runs the rollouts of a group one after the other and writes its rows once all advantages are known. */
export async function runGroup(planned: PlannedGroup, context: GroupContext): Promise<GroupRun> {
  const spool = new RowSpool();
  try {
    const group = new RunningGroup(planned, context, spool);
    for (const [at, rollout] of planned.rollouts.entries()) await group.take(rollout, at);
    return await group.finish();
  } finally {
    spool.close();
  }
}

class RunningGroup {
  private readonly planned: PlannedGroup;
  private readonly context: GroupContext;
  private readonly spool: RowSpool;
  private name: string | null;
  private readonly members: RolloutRun[] = [];
  private readonly slots = new Set<number>();
  private readonly explanation: string[] = [];

  constructor(planned: PlannedGroup, context: GroupContext, spool: RowSpool) {
    this.planned = planned;
    this.context = context;
    this.spool = spool;
    this.name = planned.group;
  }

  async take(rollout: RolloutSources | RewardOnly, at: number): Promise<void> {
    if (rollout.kind === 'reward') this.members.push(rewardOnly(rollout, this.takeSlot(rollout.slot ?? at)));
    else await this.build(rollout, at);
  }

  private takeSlot(slot: number): number {
    if (this.slots.has(slot))
      throw new RowsUsageError(
        `two rollouts of ${this.name === null ? 'the group' : `group ${this.name}`} have slot ${slot}, so their rows would have the same ids: give each its own "slot"`,
      );
    this.slots.add(slot);
    return slot;
  }

  /** Throws {@link RowsUsageError} if it was taken before. */
  private takeOnce(kind: 'group' | 'attempt', name: string): void {
    const { taken } = this.context;
    if (taken.has(`${kind} ${name}`)) throw new RowsUsageError(`${kind} ${name} stands there twice`);
    taken.add(`${kind} ${name}`);
  }

  async finish(): Promise<GroupRun> {
    const { members, planned, context } = this;
    const group = this.name ?? 'group';
    this.takeOnce('group', group);
    const verdict = weighGroup(group, members, planned.options);
    if (verdict.kind === 'kept') await this.publish(verdict);
    const rows = verdict.kind === 'kept' ? members.reduce((sum, member) => sum + member.rowIds.length, 0) : 0;
    const drawing = context.explain
      ? [...this.explanation, ...explainGroup(group, members, verdict, planned.options)]
      : [];
    return { group, members, verdict, rows, explanation: drawing };
  }

  private async build(rollout: RolloutSources, at: number): Promise<void> {
    const { plan, staged, http, explain } = this.context;
    const ledger = await readLedger(rollout.ledger, http);
    const result = parseHarnessResult(await readResultText(rollout.result));
    const names = ledger.ok
      ? this.takeNames(ledger.value.attempt, rollout.slot ?? null, at)
      : this.namesOfUnreadable(rollout, at);
    const store = staged.open(rollout.staged ?? (plan.staged as string));
    const outcome = await buildRollout({
      attempt: names.attempt,
      ledger,
      result,
      policy: plan.policy,
      staged: store,
      names,
    });
    const judgement = judgeRollout(outcome, this.planned.options, await readTrainerLogprobs(rollout.trainerLogprobs));
    for (const row of judgement.rows)
      this.spool.add(rowHead(unweightedRow(row, judgement.reward as number, outcome.truncated)));
    this.members.push(runOf(outcome, judgement, names.slot));
    if (explain) this.explanation.push(...explainRollout(outcome, judgement), '');
  }

  private takeNames(attempt: string, slot: number | null, at: number) {
    const own = namesOf(attempt);
    this.name ??= own.group;
    this.takeOnce('attempt', attempt);
    return { attempt, group: this.name, slot: this.takeSlot(slot ?? (own.group === this.name ? own.slot : at)) };
  }

  /** Whose ledger it is stands in it: the rollout has no rows, and takes no name or place from another one. */
  private namesOfUnreadable({ ledger, slot }: RolloutSources, at: number) {
    return { attempt: ledger, group: this.name ?? 'group', slot: slot == null ? at : this.takeSlot(slot) };
  }

  private async publish(verdict: Extract<GroupVerdict, { kind: 'kept' }>): Promise<void> {
    const heads = this.spool.read();
    for (const [at, member] of this.members.entries()) {
      const tail = rowTail(verdict.advantages[at]?.advantage ?? 0, member.truncated, false);
      for (const _ of member.rowIds) {
        await this.context.output.write(heads.next().value as Buffer);
        await this.context.output.write(tail);
      }
    }
  }
}

function runOf(outcome: RolloutOutcome, judgement: Judgement, slot: number): RolloutRun {
  const { reward, valid, countsInBaseline, reasons, rows } = judgement;
  return {
    slot,
    name: outcome.attempt,
    attempt: outcome.attempt,
    reward,
    valid,
    countsInBaseline,
    rowIds: rows.map((row) => row.rowId),
    codes: [...new Set(reasons.map(({ code }) => code))],
    selected: outcome.selection?.calls.map((record) => record.model_call_id) ?? null,
    reasons,
    truncated: outcome.truncated,
    sequenceError: judgement.sequenceError,
  };
}

function rewardOnly({ reward, masked }: RewardOnly, slot: number): RolloutRun {
  const valid = !masked && reward !== null;
  const rest = {
    rowIds: [],
    codes: valid ? [] : ['masked'],
    selected: null,
    reasons: [],
    truncated: false,
    sequenceError: null,
  };
  return { slot, name: '(reward only)', attempt: null, reward, valid, countsInBaseline: false, ...rest };
}
