import { readFile } from 'node:fs/promises';
import { DEFAULT_GROUP_OPTIONS } from '../group-options.ts';
import { resolvePolicy } from '../selection/resolve-policy.ts';
import type { SelectionPolicy } from '../selection/selection.ts';
import { type PlannedGroup, type RolloutSources, readGroupFile } from './group-file.ts';

/** What `gym-model-proxy rows` takes. Sources are paths or `http(s)://` addresses. */
export interface RowsOptions {
  /** A ledger or a bare manifest: file, `/ledger/<attempt>` of a proxy, or the peers' manifest address. */
  readonly ledger?: string | undefined;
  /** JSON lines of staged records, or the base URL of a reference worker. */
  readonly staged?: string | undefined;
  /** The harness's result, a JSON file. */
  readonly result?: string | undefined;
  /** The prompt group: siblings, options, more rollouts (docs/trainer.md). */
  readonly group?: string | undefined;
  /** `returned_history`, `all_captured`, `declared`, or `module:function`. */
  readonly policy?: string | undefined;
  /** File for the rows; else they go to standard output, unless something else is asked for there. */
  readonly out?: string | undefined;
  readonly explain?: boolean | undefined;
  /** A summary for programs on standard output, instead of words. */
  readonly json?: boolean | undefined;
  /** The control token, for ledgers by address. */
  readonly token?: string | undefined;
  /** A reference worker's key, where it asks for one. */
  readonly workerToken?: string | undefined;
}

/** What is to be done, with everything resolved that can be wrong before anything runs. */
export interface RowsPlan {
  readonly groups: readonly PlannedGroup[];
  readonly policy: SelectionPolicy;
  readonly staged: string | null;
  readonly padToMultiple: number | null;
  readonly padTokenId: number;
}

/** Options that cannot be used; the message says which and what to give. */
export class RowsUsageError extends Error {}

/** Checks the options, reads the group file and finds the policy. Throws {@link RowsUsageError}. */
export async function planRows(options: RowsOptions, directory: string): Promise<RowsPlan> {
  const own = ownRollout(options);
  if (own === null && options.group === undefined)
    throw new RowsUsageError('give --ledger and --result, or --group, or both');
  const policy = await usable(resolvePolicy(options.policy, directory));
  const file = options.group === undefined ? null : await usable(readGroupFile(options.group));
  const groups = withOwn(file?.groups ?? [{ group: null, options: DEFAULT_GROUP_OPTIONS, rollouts: [] }], own);
  for (const { rollouts, options: chosen } of groups) {
    const sources = rollouts.filter((rollout) => rollout.kind === 'sources');
    if (chosen.sequenceErrorThreshold !== null && sources.some(({ trainerLogprobs }) => trainerLogprobs === null))
      throw new RowsUsageError('sequence_error_threshold needs trainer_logprobs of every rollout');
    if (sources.some(({ staged }) => staged === null) && options.staged === undefined) {
      throw new RowsUsageError('give --staged: a file of JSON lines, or the base URL of a reference worker');
    }
  }
  return {
    groups,
    policy,
    staged: options.staged ?? null,
    padToMultiple: file?.padToMultiple ?? null,
    padTokenId: file?.padTokenId ?? 0,
  };
}

function ownRollout({ ledger, result }: RowsOptions): RolloutSources | null {
  if (ledger === undefined && result === undefined) return null;
  if (ledger === undefined) throw new RowsUsageError('--result needs --ledger');
  if (result === undefined)
    throw new RowsUsageError('--ledger needs --result: the JSON file that the harness returned');
  return { kind: 'sources', slot: null, ledger, staged: null, result: { path: result }, trainerLogprobs: null };
}

/** The rollout of the command line joins the group of the file, before its siblings. */
function withOwn(groups: readonly PlannedGroup[], own: RolloutSources | null): readonly PlannedGroup[] {
  if (own === null) return groups;
  const [only, another] = groups;
  if (only === undefined || another !== undefined) {
    throw new RowsUsageError('--ledger and --result go with a group file of one group');
  }
  return [{ ...only, rollouts: [own, ...only.rollouts] }];
}

async function usable<T>(value: Promise<T>): Promise<T> {
  try {
    return await value;
  } catch (error) {
    throw new RowsUsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The text of a result. Throws where the file cannot be read. */
export function readResultText(result: RolloutSources['result']): Promise<string> {
  return 'json' in result ? Promise.resolve(result.json) : readFile(result.path, 'utf8');
}
