import type { Advantage } from '../advantages.ts';
import type { GroupOptions } from '../group-options.ts';
import type { GroupVerdict } from '../groups.ts';
import { count, signed, table } from './table.ts';

/** What the group's table shows of a rollout. */
export interface GroupMember {
  readonly slot: number;
  /** The attempt, or words where there is none. */
  readonly name: string;
  readonly reward: number | null;
  readonly valid: boolean;
  readonly rowIds: readonly string[];
  /** Reason codes, where it is not valid. */
  readonly codes: readonly string[];
}

/** A prompt group for a person at a terminal: rewards, baselines, advantages, rows. One line per entry. */
export function explainGroup(
  group: string,
  members: readonly GroupMember[],
  verdict: GroupVerdict,
  options: GroupOptions,
): string[] {
  const valid = members.filter((member) => member.valid).length;
  const head = `group ${group}: ${valid} of ${count(members.length, 'rollout')} valid, ${wordsOf(options)}`;
  const rows = members.map((member, at) => [
    `slot ${member.slot}`,
    member.name,
    member.reward === null ? 'no reward' : `reward ${member.reward}`,
    advantageText(member, verdict.kind === 'kept' ? verdict.advantages[at] : undefined),
    member.codes.length > 0 ? member.codes.join(', ') : member.rowIds.join(' '),
  ]);
  const dropped = verdict.kind === 'dropped' ? verdict.reasons.map(({ code, message }) => `  ${code}: ${message}`) : [];
  return [head, ...table(rows).map((line) => `  ${line}`), ...dropped];
}

function advantageText(member: GroupMember, advantage: Advantage | undefined): string {
  if (advantage === undefined) return 'dropped';
  if (!member.valid || advantage.baseline === null) return 'masked';
  return `baseline ${Number(advantage.baseline.toPrecision(6))}  advantage ${signed(advantage.advantage)}`;
}

function wordsOf(options: GroupOptions): string {
  const words = [options.baseline === 'mean' ? 'baseline mean' : 'baseline leave-one-out'];
  if (options.normalize) words.push('normalized');
  if (options.clip !== null) words.push(`clipped to ${options.clip.low}..${options.clip.high}`);
  if (options.sequenceErrorThreshold !== null) {
    words.push(
      `sequence error up to ${options.sequenceErrorThreshold} (masked rewards: ${options.maskedRewardPolicy})`,
    );
  }
  if (options.overlongFiltering) words.push('overlong filtering');
  if (options.minValidFraction > 0) words.push(`at least ${options.minValidFraction} valid`);
  return words.join(', ');
}
