import { HEX64_PATTERN, isUnsigned } from './primitives.ts';

/** `ng_commit_coords`, worker to proxy (protocol section 6), with the owner's field taken out under its configured name. */
export interface StagedCoordinates {
  readonly disposition: 'staged';
  readonly owner: string;
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly prev_len: number;
  readonly delta_len: number;
  readonly cum_len: number;
  readonly weight_version: number;
  readonly digest: string;
  readonly extras_digest: string;
  readonly chain_hash: string;
  readonly cumulative_hash: string;
  readonly staging_key: string;
}

export interface FailedCoordinates {
  readonly disposition: 'capture_failed';
  readonly owner: string;
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly prev_len: number;
  readonly delta_len: 0;
  readonly cum_len: number;
  readonly weight_version: number;
}

export type Coordinates = StagedCoordinates | FailedCoordinates;
export type OwnerKey = 'capture_key' | 'rollout_id';

interface Expected {
  readonly is: (value: unknown) => boolean;
  readonly words: string;
}

const exactly = (wanted: string | number | null): Expected => ({ is: (value) => value === wanted, words: `${wanted}` });
const isId = (value: unknown) => typeof value === 'string' && value !== '';

const ID: Expected = { is: isId, words: 'a string that is not empty' };
const ID_OR_NULL: Expected = { is: (value) => value === null || isId(value), words: `null or ${ID.words}` };
const UNSIGNED: Expected = { is: isUnsigned, words: 'an integer from 0 to below 2^53' };
const POSITIVE: Expected = {
  is: (value) => isUnsigned(value) && value !== 0,
  words: 'an integer from 1 to below 2^53',
};
const HEX64: Expected = {
  is: (value) => typeof value === 'string' && HEX64_PATTERN.test(value),
  words: '64 lowercase hex digits',
};
const NULL = exactly(null);

interface Member extends Expected {
  readonly name: string;
}

function membersOf(schemaVersion: 2 | 3, ownerKey: OwnerKey, disposition: Coordinates['disposition']): Member[] {
  const staged = disposition === 'staged';
  const digest = staged ? HEX64 : NULL;
  return [
    { name: 'schema_version', ...exactly(schemaVersion) },
    { name: ownerKey, ...ID },
    { name: 'digest_version', ...exactly(2) },
    { name: 'extras_digest_version', ...exactly(1) },
    { name: 'model_call_id', ...ID },
    { name: 'parent_call_id', ...ID_OR_NULL },
    { name: 'prev_len', ...UNSIGNED },
    { name: 'delta_len', ...(staged ? POSITIVE : exactly(0)) },
    { name: 'cum_len', ...UNSIGNED },
    { name: 'weight_version', ...UNSIGNED },
    { name: 'disposition', ...exactly(disposition) },
    { name: 'digest', ...digest },
    { name: 'extras_digest', ...digest },
    { name: 'chain_hash', ...digest },
    { name: 'cumulative_hash', ...digest },
    { name: 'staging_key', ...(staged ? ID : NULL) },
  ];
}

/**
 * Reads the coordinates of one generation (protocol section 6), strictly: unknown members, missing nulls and coerced types are a problem, which names the member. Written
 * out by hand, since a schema library takes several times as long and every call passes here.
 */
export function coordinatesReader(schemaVersion: 2 | 3, ownerKey: OwnerKey) {
  const staged = membersOf(schemaVersion, ownerKey, 'staged');
  const failed = membersOf(schemaVersion, ownerKey, 'capture_failed');
  return (value: unknown): Coordinates | { readonly problem: string } => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { problem: 'expected an object' };
    const { disposition } = value as { readonly disposition?: unknown };
    if (disposition !== 'staged' && disposition !== 'capture_failed')
      return { problem: 'disposition: expected staged or capture_failed' };
    const read = value as Readonly<Record<string, unknown>>;
    const problem = problemOf(read, disposition === 'staged' ? staged : failed);
    if (problem !== null) return { problem };
    const it = value as Omit<StagedCoordinates, 'owner'>;
    const shared = {
      owner: read[ownerKey] as string,
      model_call_id: it.model_call_id,
      parent_call_id: it.parent_call_id,
      prev_len: it.prev_len,
      cum_len: it.cum_len,
      weight_version: it.weight_version,
    };
    if (disposition === 'capture_failed') return { disposition, ...shared, delta_len: 0 };
    const { delta_len, digest, extras_digest, chain_hash, cumulative_hash, staging_key } = it;
    return { disposition, ...shared, delta_len, digest, extras_digest, chain_hash, cumulative_hash, staging_key };
  };
}

/** What is wrong with an object that has to have these members and no others; null where nothing is. */
function problemOf(value: Readonly<Record<string, unknown>>, members: readonly Member[]): string | null {
  for (const { name, is, words } of members) if (!is(value[name])) return `${name}: expected ${words}`;
  const names = Object.keys(value);
  if (names.length === members.length) return null;
  return `${names.find((name) => !members.some((member) => member.name === name))}: unknown member`;
}
