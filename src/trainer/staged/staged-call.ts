import type { JsonNode } from '../../protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../../protocol/json/parse-json.ts';
import { HEX64_PATTERN, isUnsigned } from '../../protocol/wire/primitives.ts';
import { splitRecord } from './split-record.ts';

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

/** Nearly all of a staged record: lists of numbers, one per token. */
export const TOKEN_LISTS: ReadonlySet<string> = new Set([
  'token_ids_delta',
  'token_mask_delta',
  'generation_log_probs_delta',
]);

/** Members to step over where records are parsed inside of a larger text; extras too, so that nothing inside of them is. */
export const HEAVY_MEMBERS: ReadonlySet<string> = new Set([...TOKEN_LISTS, 'extras']);

/** Reads a staged record from its JSON text, which is not held on to. */
export function parseStagedCall(bytes: Buffer): StagedLookup {
  const split = splitRecord(bytes, TOKEN_LISTS);
  const node = parseJson(split?.light ?? bytes);
  if (isJsonProblem(node)) return malformed(`it is no JSON: ${node.problem}`);
  return readStagedCall(node, split?.lists);
}

/** Reads a staged record from parsed JSON, with {@link HEAVY_MEMBERS} skipped or with its lists beside it. */
export function readStagedCall(node: JsonNode, lists: ReadonlyMap<string, Buffer> = new Map()): StagedLookup {
  try {
    return { kind: 'found', call: readMembers(node, lists) };
  } catch (error) {
    if (error instanceof WrongMember) return malformed(error.message);
    throw error;
  }
}

class WrongMember extends Error {}

function readMembers(node: JsonNode, lists: ReadonlyMap<string, Buffer>): StagedCall {
  if (!node.isObject()) throw new WrongMember('it is no object');
  const numbers = (name: string) => parseNumbers(name, lists.get(name) ?? node.get(name)?.raw());
  return {
    owner: text(node, node.get('rollout_id') === undefined ? 'capture_key' : 'rollout_id'),
    callId: text(node, 'model_call_id'),
    parentCallId: node.get('parent_call_id')?.isNull() ? null : text(node, 'parent_call_id'),
    mode: text(node, 'mode'),
    prevLen: unsigned(node, 'prev_len'),
    deltaLen: unsigned(node, 'delta_len'),
    cumLen: unsigned(node, 'cum_len'),
    weightVersion: unsigned(node, 'weight_version'),
    tokenIds: tokenIdsOf('token_ids_delta', numbers),
    tokenMask: floatsOf('token_mask_delta', numbers),
    logprobs: floatsOf('generation_log_probs_delta', numbers),
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
  if (value === undefined || !HEX64_PATTERN.test(value))
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

/** Elements are not checked yet. */
function parseNumbers(name: string, bytes: Buffer | undefined): unknown[] {
  let list: unknown;
  try {
    // Latin-1 is enough for numbers and quick; whatever else stands there is refused.
    list = bytes === undefined ? undefined : JSON.parse(bytes.toString('latin1'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (!Array.isArray(list)) throw new WrongMember(`${name} is no list of numbers`);
  return list;
}

function tokenIdsOf(name: string, numbers: (name: string) => unknown[]): number[] {
  const list = numbers(name);
  for (const value of list) {
    if (!isUnsigned(value)) throw new WrongMember(`${name} holds something other than integers from 0 to below 2^53`);
  }
  return list as number[];
}

function floatsOf(name: string, numbers: (name: string) => unknown[]): number[] {
  const list = numbers(name);
  for (const value of list) {
    if (typeof value !== 'number' || !Number.isFinite(Math.fround(value))) {
      throw new WrongMember(`${name} holds something other than numbers within a 4-byte float`);
    }
  }
  return list as number[];
}

function readExtras(node: JsonNode | undefined): JsonNode | null {
  const extras = node?.kind === 'skipped' ? parseJson(node.raw()) : node;
  if (extras === undefined) return null;
  if (isJsonProblem(extras)) throw new WrongMember(`extras cannot be read: ${extras.problem}`);
  return extras.isNull() ? null : extras;
}

function malformed(why: string): StagedLookup {
  return { kind: 'malformed', why };
}
