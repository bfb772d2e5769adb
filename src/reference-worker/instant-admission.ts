import { z } from 'zod';
import type { OwnerKey } from '../protocol/wire/coordinates.ts';

/** Of `ng_capture` just what staging needs. */
export interface InstantAdmission {
  readonly schemaVersion: 2 | 3;
  readonly ownerKey: OwnerKey;
  readonly owner: string;
  readonly modelCallId: string;
  readonly parentCallId: string | null;
  readonly parentChainHash: string | null;
  readonly prevLen: number;
  readonly stagingChain: readonly string[];
}

const KEY = Buffer.from('"ng_capture"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

const wire = z.object({
  schema_version: z.union([z.literal(2), z.literal(3)]),
  capture_key: z.string().optional(),
  rollout_id: z.string().optional(),
  model_call_id: z.string(),
  parent_call_id: z.string().nullable(),
  parent_chain_hash: z.string().nullable(),
  prev_len: z.int().nonnegative(),
  staging_chain: z.array(z.string()),
});

/**
 * Pulls `ng_capture` out of a body without parsing the rest; null if there is none. Quotes inside JSON strings are escaped, so the bytes `"ng_capture"` are a
 * member name (or a string of exactly that text, which no object follows); the last one that an object follows counts.
 */
export function pullCapture(body: Buffer): InstantAdmission | null | 'invalid' {
  for (let at = body.lastIndexOf(KEY); at >= 0; at = at === 0 ? -1 : body.lastIndexOf(KEY, at - 1)) {
    const start = objectAfterColon(body, at + KEY.length);
    if (start === null) continue;
    const end = endOfObject(body, start);
    return end === null ? 'invalid' : read(body.toString('utf8', start, end));
  }
  return null;
}

function read(text: string): InstantAdmission | 'invalid' {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return 'invalid';
    throw error;
  }
  const parsed = wire.safeParse(value);
  if (!parsed.success) return 'invalid';
  const { capture_key, rollout_id } = parsed.data;
  const owner = capture_key ?? rollout_id;
  if (owner === undefined) return 'invalid';
  return {
    schemaVersion: parsed.data.schema_version,
    ownerKey: capture_key === undefined ? 'rollout_id' : 'capture_key',
    owner,
    modelCallId: parsed.data.model_call_id,
    parentCallId: parsed.data.parent_call_id,
    parentChainHash: parsed.data.parent_chain_hash,
    prevLen: parsed.data.prev_len,
    stagingChain: parsed.data.staging_chain,
  };
}

function objectAfterColon(body: Buffer, from: number): number | null {
  let at = skipSpace(body, from);
  if (body[at] !== 0x3a) return null;
  at = skipSpace(body, at + 1);
  return body[at] === OPEN ? at : null;
}

function skipSpace(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++;
  return at;
}

/** One past the closing bracket of the object that begins at `start`; null if it does not end. */
function endOfObject(body: Buffer, start: number): number | null {
  let depth = 0;
  for (let at = start; at < body.length; at++) {
    const byte = body[at];
    if (byte === QUOTE) {
      at = endOfString(body, at);
      if (at < 0) return null;
    } else if (byte === OPEN) depth++;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  return null;
}

/** The closing quote of the string that begins at `start`; -1 if it does not end. */
function endOfString(body: Buffer, start: number): number {
  for (let at = body.indexOf(QUOTE, start + 1); at >= 0; at = body.indexOf(QUOTE, at + 1)) {
    let backslashes = 0;
    while (body[at - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}
