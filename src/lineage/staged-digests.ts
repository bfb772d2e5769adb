import type { JsonNode } from '../protocol/json/json-node.ts';
import { HEX64_PATTERN, isUnsigned } from '../protocol/wire/primitives.ts';
import { ByteSink } from './byte-sink.ts';
import { sortedMembers } from './canonical-json.ts';
import { sha256Hex } from './digest.ts';
import { isIntegerToken } from './python-text.ts';

/** Digests of staged calls (protocol section 10, byte-exact): shared by worker, TransferQueue and trainer kit. */

/** Token ids, masks, log probabilities: arrays or typed arrays. */
export type Numbers = ArrayLike<number>;

const CUMULATIVE_DOMAIN = Buffer.from('nemo-gym-staging-prefix-v2');
const CHAIN_DOMAIN = Buffer.from('nemo-gym-staging-chain-v1');
const EXTRAS_DOMAIN = Buffer.from('nemo-gym-staging-extras-v1\x01');
const CALL_DOMAIN = Buffer.from('nemo-gym-staging-call-v2');

const sink = new ByteSink(1 << 20, 1 << 24);

/** `cumulative_hash` of all tokens of a call, prompt and generated. Throws RangeError for what is no token id. */
export function cumulativeHash(tokens: Numbers): string {
  sink.reset(CUMULATIVE_DOMAIN);
  writeTokens(tokens);
  return sha256Hex(sink.view());
}

/** `chain_hash` of a call: its parent's (null for a root) and its delta. Throws RangeError for what is no token id. */
export function chainHash(parentHex: string | null, delta: Numbers): string {
  sink.reset(CHAIN_DOMAIN);
  sink.byte(parentHex === null ? 0 : 1);
  if (parentHex !== null) writeDigest(parentHex);
  writeTokens(delta);
  return sha256Hex(sink.view());
}

/** `extras_digest`; an absent value counts as null. Null where the value has no digest: an integer beyond 64 bits, a lone surrogate, a double that is not finite. */
export function extrasDigest(extras: JsonNode | null): string | null {
  sink.reset(EXTRAS_DOMAIN);
  if (extras === null) sink.byte(0x4e);
  else if (!writeExtra(extras)) return null;
  return sha256Hex(sink.view());
}

export interface StagedCall {
  readonly schemaVersion: 2 | 3;
  /** `capture_key` or `rollout_id`. */
  readonly owner: string;
  readonly modelCallId: string;
  readonly parentCallId: string | null;
  readonly mode: string;
  readonly prevLen: number;
  readonly deltaLen: number;
  readonly cumLen: number;
  readonly weightVersion: number;
  readonly tokenIds: Numbers;
  readonly tokenMask: Numbers;
  readonly logProbs: Numbers;
  /** 64 hex digits each. */
  readonly extrasDigest: string;
  readonly chainHash: string;
  readonly cumulativeHash: string;
}

/** `digest` of a staged call. Throws RangeError where a number or a digest cannot be encoded. */
export function stagedCallDigest(call: StagedCall): string {
  sink.reset(CALL_DOMAIN);
  sink.byte(call.schemaVersion);
  sink.byte(2);
  sink.byte(1);
  writeText(call.owner);
  writeText(call.modelCallId);
  sink.byte(call.parentCallId === null ? 0 : 1);
  if (call.parentCallId !== null) writeText(call.parentCallId);
  writeText(call.mode);
  for (const length of [call.prevLen, call.deltaLen, call.cumLen, call.weightVersion]) sink.u64(unsigned(length));
  sink.u64(8 + 8 * call.tokenIds.length);
  writeTokens(call.tokenIds);
  writeFloats(call.tokenMask);
  writeFloats(call.logProbs);
  writeDigest(call.extrasDigest);
  sink.byte(1);
  writeDigest(call.chainHash);
  sink.byte(1);
  writeDigest(call.cumulativeHash);
  return sha256Hex(sink.view());
}

/** TOKENS. */
function writeTokens(tokens: Numbers): void {
  sink.u64(tokens.length);
  sink.u64s(tokens);
}

/** BYTES(F32S). */
function writeFloats(values: Numbers): void {
  sink.u64(8 + 4 * values.length);
  sink.u64(values.length);
  sink.f32s(values);
}

function writeExtra(node: JsonNode): boolean {
  switch (node.kind) {
    case 'null':
    case 'skipped':
      sink.byte(0x4e);
      return true;
    case 'true':
    case 'false':
      sink.byte(0x42);
      sink.byte(node.kind === 'true' ? 1 : 0);
      return true;
    case 'number':
      return writeExtraNumber(node.rawText());
    case 'string': {
      const text = node.string() as string;
      sink.byte(0x53);
      writeText(text);
      return text.isWellFormed();
    }
    case 'array':
      sink.byte(0x4c);
      sink.u64(node.children.length);
      return node.children.every(writeExtra);
    case 'object': {
      const members = sortedMembers(node);
      sink.byte(0x44);
      sink.u64(members.length);
      return members.every(([key, value]) => {
        writeText(key);
        return key.isWellFormed() && writeExtra(value);
      });
    }
    default:
      return unreachable(node.kind);
  }
}

function writeExtraNumber(token: string): boolean {
  if (!isIntegerToken(token)) {
    sink.byte(0x46);
    sink.f64(Number(token));
    return Number.isFinite(Number(token));
  }
  const value = token.length > 20 ? null : BigInt(token);
  if (value === null || BigInt.asIntN(64, value) !== value) return false;
  sink.byte(0x49);
  sink.i64(value);
  return true;
}

/** TEXT. */
function writeText(text: string): void {
  const start = sink.beginFrame();
  sink.utf8(text);
  sink.endFrame(start);
}

/** A digest as its 32 bytes. */
function writeDigest(hex: string): void {
  if (!HEX64_PATTERN.test(hex)) throw new RangeError('a digest of 64 lowercase hex digits is expected');
  sink.copy(Buffer.from(hex, 'hex'), 0, 32);
}

function unsigned(value: number): number {
  if (!isUnsigned(value)) throw new RangeError(`an integer from 0 to below 2^53 is expected`);
  return value;
}

function unreachable(kind: never): never {
  throw new Error(`unknown kind of JSON value: ${String(kind)}`);
}
