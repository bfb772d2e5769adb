import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { JsonNode } from '../../protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../../protocol/json/parse-json.ts';
import { DEFAULT_GROUP_OPTIONS, type GroupOptions } from '../group-options.ts';
import { isUrl } from '../ledger-client.ts';
import { SourceError } from '../source-error.ts';

/** Options of a group as the file spells them; every one has a default. */
const options = z.strictObject({
  baseline: z.enum(['mean', 'leave_one_out']).optional(),
  normalize: z.boolean().optional(),
  /** One bound for both sides, or [low, high]. */
  clip: z
    .union([
      z.number().positive(),
      z.tuple([z.number(), z.number()]).refine(([low, high]) => low <= high, 'the lower bound comes first'),
    ])
    .nullable()
    .optional(),
  sequence_error_threshold: z.number().nullable().optional(),
  masked_reward_policy: z.enum(['exclude', 'include']).optional(),
  overlong_filtering: z.boolean().optional(),
  min_valid_fraction: z.number().min(0).max(1).optional(),
});

/** Row id -> one number per token of the row; null is minus infinity. */
const logprobs = z.record(z.string(), z.array(z.number().nullable()));

const slot = z.int().nonnegative().optional();

const rollout = z.union([
  z.strictObject({
    slot,
    ledger: z.string().min(1),
    staged: z.string().min(1).optional(),
    result: z.union([z.string().min(1), z.looseObject({})]),
    trainer_logprobs: z.union([z.string().min(1), logprobs]).optional(),
  }),
  /** A rollout of which only the reward is known here. */
  z.strictObject({ slot, reward: z.number().nullable(), masked: z.boolean().optional() }),
]);

const group = z.strictObject({
  group: z.string().min(1).optional(),
  options: options.optional(),
  rollouts: z.array(rollout).default([]),
});

const padding = { pad_to_multiple: z.int().min(1).optional(), pad_token_id: z.int().nonnegative().optional() };

const groupFile = z.union([
  z.strictObject({ ...group.shape, ...padding }),
  z.strictObject({ groups: z.array(group).min(1), ...padding }),
]);

/** A rollout to make rows of: sources are paths or addresses; a result may stand in the file itself. */
export interface RolloutSources {
  readonly kind: 'sources';
  readonly slot: number | null;
  readonly ledger: string;
  readonly staged: string | null;
  readonly result: { readonly path: string } | { readonly json: string };
  readonly trainerLogprobs:
    | { readonly path: string }
    | { readonly rows: Readonly<Record<string, readonly (number | null)[]>> }
    | null;
}

export interface RewardOnly {
  readonly kind: 'reward';
  readonly slot: number | null;
  readonly reward: number | null;
  readonly masked: boolean;
}

export interface PlannedGroup {
  /** Null: named after its first attempt. */
  readonly group: string | null;
  readonly options: GroupOptions;
  readonly rollouts: readonly (RolloutSources | RewardOnly)[];
}

export interface GroupFile {
  readonly groups: readonly PlannedGroup[];
  readonly padToMultiple: number | null;
  readonly padTokenId: number;
}

/** Reads a `--group` file (docs/trainer.md). Paths in it count from the file's own folder. Throws with a sentence where it cannot be used. */
export async function readGroupFile(path: string): Promise<GroupFile> {
  const json = parseJson(await readFile(path));
  if (isJsonProblem(json)) throw new Error(`${path} is no JSON: ${json.problem} (byte ${json.offset})`);
  const parsed = groupFile.safeParse(json.value());
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Error(
      `${path} is no group file: ${[issue?.path.map(String).join('.'), issue?.message].filter(Boolean).join(': ')}`,
    );
  }
  const { data } = parsed;
  const folder = dirname(path);
  const groups = 'groups' in data ? data.groups : [data];
  const nodes = 'groups' in data ? (json.get('groups')?.elements() ?? []) : [json];
  return {
    groups: groups.map((entry, at) => {
      const members = nodes[at]?.get('rollouts')?.elements() ?? [];
      return {
        group: entry.group ?? null,
        options: readOptions(entry.options ?? {}),
        rollouts: entry.rollouts.map((member, position) => readRollout(member, members[position], folder)),
      };
    }),
    padToMultiple: data.pad_to_multiple ?? null,
    padTokenId: data.pad_token_id ?? 0,
  };
}

function readOptions(given: z.infer<typeof options>): GroupOptions {
  const defaults = DEFAULT_GROUP_OPTIONS;
  const { clip } = given;
  const bounds = typeof clip === 'number' ? { low: -clip, high: clip } : clip ? { low: clip[0], high: clip[1] } : null;
  return {
    baseline: given.baseline ?? defaults.baseline,
    normalize: given.normalize ?? defaults.normalize,
    clip: bounds,
    sequenceErrorThreshold: given.sequence_error_threshold ?? defaults.sequenceErrorThreshold,
    maskedRewardPolicy: given.masked_reward_policy ?? defaults.maskedRewardPolicy,
    overlongFiltering: given.overlong_filtering ?? defaults.overlongFiltering,
    minValidFraction: given.min_valid_fraction ?? defaults.minValidFraction,
  };
}

/** `node`: the member as it stands in the file, since a result's items are fingerprinted as they are written. */
function readRollout(
  member: z.infer<typeof rollout>,
  node: JsonNode | undefined,
  folder: string,
): RolloutSources | RewardOnly {
  if (!('ledger' in member)) {
    return {
      kind: 'reward',
      slot: member.slot ?? null,
      reward: member.reward,
      masked: member.masked ?? member.reward === null,
    };
  }
  const at = (source: string) => (isUrl(source) ? source : resolve(folder, source));
  const { result, trainer_logprobs: own } = member;
  return {
    kind: 'sources',
    slot: member.slot ?? null,
    ledger: at(member.ledger),
    staged: member.staged === undefined ? null : at(member.staged),
    result: typeof result === 'string' ? { path: at(result) } : { json: node?.get('result')?.rawText() ?? 'null' },
    trainerLogprobs: own === undefined ? null : typeof own === 'string' ? { path: at(own) } : { rows: own },
  };
}

/** Trainer log probabilities of a rollout's rows, from the group file or a file of their own. Throws {@link SourceError}. */
export async function readTrainerLogprobs(
  source: RolloutSources['trainerLogprobs'],
): Promise<Map<string, number[]> | null> {
  if (source === null) return null;
  const rows = 'rows' in source ? source.rows : await readLogprobsFile(source.path);
  return new Map(
    Object.entries(rows).map(([rowId, values]) => [rowId, values.map((value) => value ?? Number.NEGATIVE_INFINITY)]),
  );
}

async function readLogprobsFile(path: string): Promise<Readonly<Record<string, readonly (number | null)[]>>> {
  const json = parseJson(await readFile(path));
  const parsed = isJsonProblem(json) ? null : logprobs.safeParse(json.value());
  if (parsed?.success) return parsed.data;
  throw new SourceError(`${path} is no object of row ids, each with a list of numbers`);
}
