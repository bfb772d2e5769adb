import type { JsonNode } from '../../protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../../protocol/json/parse-json.ts';

/** A staged record as TransferQueue holds it (protocol sections 10 and 11), read but not verified. */
export interface StagedCall {
  readonly owner: string;
  readonly callId: string;
  readonly parentCallId: string | null;
  readonly mode: string;
  readonly prevLen: number;
  readonly deltaLen: number;
  readonly cumLen: number;
  readonly weightVersion: number;
  readonly tokenIds: readonly number[];
  readonly tokenMask: readonly number[];
  readonly logprobs: readonly number[];
  /** Lossless, since the extras digest tells `1` from `1.0`. Null where there are none. */
  readonly extras: JsonNode | null;
  readonly extrasDigest: string;
  readonly chainHash: string;
  readonly cumulativeHash: string;
  readonly digest: string;
  readonly stagingKey: string;
  /** Null where the record does not say: then those of the ledger's record hold. */
  readonly schemaVersion: number | null;
  readonly digestVersion: number | null;
  readonly extrasDigestVersion: number | null;
}

/** What lies under a staging key. */
export type StagedLookup =
  | { readonly kind: 'found'; readonly call: StagedCall }
  | { readonly kind: 'malformed'; readonly why: string }
  | { readonly kind: 'missing' };

/** Members that are stepped over in the first pass: long lists are read natively, and extras only where there are any. */
export const HEAVY_MEMBERS: ReadonlySet<string> = new Set([
  'token_ids_delta',
  'token_mask_delta',
  'generation_log_probs_delta',
  'extras',
]);

/** Reads a staged record from its JSON text. */
export function parseStagedCall(bytes: Buffer): StagedLookup {
  const node = parseJson(bytes, { skip: HEAVY_MEMBERS });
  return isJsonProblem(node) ? malformed(`it is no JSON: ${node.problem} (byte ${node.offset})`) : readStagedCall(node);
}

/** Reads a staged record from JSON that was parsed with {@link HEAVY_MEMBERS} skipped. */
export function readStagedCall(node: JsonNode): StagedLookup {
  try {
    return { kind: 'found', call: readMembers(node) };
  } catch (error) {
    if (error instanceof WrongMember) return malformed(error.message);
    throw error;
  }
}

class WrongMember extends Error {}

function readMembers(node: JsonNode): StagedCall {
  if (!node.isObject()) throw new WrongMember('it is no object');
  return {
    owner: text(node, node.get('rollout_id') === undefined ? 'capture_key' : 'rollout_id'),
    callId: text(node, 'model_call_id'),
    parentCallId: node.get('parent_call_id')?.isNull() ? null : text(node, 'parent_call_id'),
    mode: text(node, 'mode'),
    prevLen: unsigned(node, 'prev_len'),
    deltaLen: unsigned(node, 'delta_len'),
    cumLen: unsigned(node, 'cum_len'),
    weightVersion: unsigned(node, 'weight_version'),
    tokenIds: numbers(node, 'token_ids_delta', isUnsigned, 'integers from 0 to below 2^53'),
    tokenMask: numbers(node, 'token_mask_delta', isFloat, 'numbers within a 4-byte float'),
    logprobs: numbers(node, 'generation_log_probs_delta', isFloat, 'numbers within a 4-byte float'),
    extras: readExtras(node.get('extras')),
    extrasDigest: hex(node, 'extras_digest'),
    chainHash: hex(node, 'chain_hash'),
    cumulativeHash: hex(node, 'cumulative_hash'),
    digest: hex(node, 'digest'),
    stagingKey: text(node, 'staging_key'),
    schemaVersion: optionalUnsigned(node, 'schema_version'),
    digestVersion: optionalUnsigned(node, 'digest_version'),
    extrasDigestVersion: optionalUnsigned(node, 'extras_digest_version'),
  };
}

function text(node: JsonNode, name: string): string {
  const value = node.get(name)?.string();
  if (!value) throw new WrongMember(`${name} is no non-empty string`);
  return value;
}

function hex(node: JsonNode, name: string): string {
  const value = node.get(name)?.string();
  if (value === undefined || !/^[0-9a-f]{64}$/.test(value))
    throw new WrongMember(`${name} is not 64 lowercase hex digits`);
  return value;
}

function unsigned(node: JsonNode, name: string): number {
  const value = node.get(name)?.number();
  if (value === undefined || !isUnsigned(value)) throw new WrongMember(`${name} is no integer from 0 to below 2^53`);
  return value;
}

function optionalUnsigned(node: JsonNode, name: string): number | null {
  return node.present(name) === undefined ? null : unsigned(node, name);
}

function numbers(node: JsonNode, name: string, fits: (value: unknown) => boolean, wanted: string): number[] {
  const member = node.get(name);
  // Latin-1 is enough for numbers and quick; anything else in the list is refused by `fits`.
  const list: unknown = member === undefined ? undefined : JSON.parse(member.raw().toString('latin1'));
  if (!Array.isArray(list)) throw new WrongMember(`${name} is no list`);
  for (const value of list) if (!fits(value)) throw new WrongMember(`${name} holds something other than ${wanted}`);
  return list as number[];
}

function isUnsigned(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isFloat(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(Math.fround(value));
}

function readExtras(node: JsonNode | undefined): JsonNode | null {
  if (node === undefined) return null;
  const extras = parseJson(node.raw());
  if (isJsonProblem(extras)) throw new WrongMember(`extras cannot be read: ${extras.problem}`);
  return extras.isNull() ? null : extras;
}

function malformed(why: string): StagedLookup {
  return { kind: 'malformed', why };
}
