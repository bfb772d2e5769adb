import { fragmentText, type JsonFragment } from '../protocol/json/fragment.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import { canonicalReplayWithoutNulls } from './canonical-json.ts';
import { replayDigest, sha256Hex } from './digest.ts';

/** Render keys that differ between two results of {@link renderKeyDigests}, in order. */
export { differingNames as differingRenderKeys } from './compare-items.ts';

/** Members of the upstream body that shape the prompt (protocol section 3), in canonical order. */
export const RENDER_KEYS = [
  'add_generation_prompt',
  'add_special_tokens',
  'chat_template',
  'chat_template_kwargs',
  'continue_final_message',
  'documents',
  'media_io_kwargs',
  'mm_processor_kwargs',
  'model',
  'parallel_tool_calls',
  'reasoning_effort',
  'tool_choice',
  'tools',
] as const;

/** The digest, or the name of the field that cannot be digested (a lone surrogate, a number beyond the doubles): 400 before inference. */
export type RenderDigest = { readonly digest: string } | { readonly undigestable: string };

interface RenderEvidence {
  readonly outcome: RenderDigest;
  readonly keyDigests: Readonly<Record<string, string>>;
}

/**
 * `render_digest` of the final upstream body (protocol section 3, byte-exact): of the object of those of {@link RENDER_KEYS} that are present.
 * Null members below the top level do not count, null elements of lists do. Other members are ignored.
 */
export function renderDigest(fields: ReadonlyMap<string, JsonFragment>): RenderDigest {
  const evidence = renderEvidence(fields);
  lastEvidence.set(fields, evidence);
  return evidence.outcome;
}

/** A short digest of each render key that is present, to name the keys that differ (`why_root`). */
export function renderKeyDigests(fields: ReadonlyMap<string, JsonFragment>): Readonly<Record<string, string>> {
  return (lastEvidence.get(fields) ?? renderEvidence(fields)).keyDigests;
}

/** What {@link renderDigest} found of these fields, so that naming their keys costs nothing more. */
const lastEvidence = new WeakMap<ReadonlyMap<string, JsonFragment>, RenderEvidence>();

/**
 * Results by the raw bytes, the long ones by their digest: an agent sends the same tools with every call, and to hash their bytes costs a twentieth of reading them.
 */
const known = new Map<string, RenderEvidence>();
const KNOWN_LIMIT = 1024;

function renderEvidence(fields: ReadonlyMap<string, JsonFragment>): RenderEvidence {
  const raw = rawIdentity(fields);
  const found = known.get(raw);
  if (found !== undefined) {
    // Moved to the end: the first one is the one that was not used for longest.
    known.delete(raw);
    known.set(raw, found);
    return found;
  }
  const evidence = computeEvidence(fields);
  known.set(raw, evidence);
  if (known.size > KNOWN_LIMIT) known.delete(known.keys().next().value as string);
  return evidence;
}

function rawIdentity(fields: ReadonlyMap<string, JsonFragment>): string {
  let identity = '';
  for (const key of RENDER_KEYS) {
    const value = fields.get(key);
    if (value === undefined) continue;
    const text = value.length <= SHORT_FIELD ? fragmentText(value) : longIdentity(value);
    identity += `${key} ${text.length}:${text}`;
  }
  return identity;
}

/** Fields up to this length, in code units or bytes, stand for themselves; a digest is longer than that, so neither is taken for the other. */
const SHORT_FIELD = 63;

/** Tools that are taken over from an earlier request are the same bytes object. */
const digests = new WeakMap<Uint8Array, string>();

function longIdentity(value: JsonFragment): string {
  if (typeof value === 'string') return sha256Hex(value);
  let digest = digests.get(value);
  if (digest === undefined) {
    digest = sha256Hex(value);
    digests.set(value, digest);
  }
  return digest;
}

function computeEvidence(fields: ReadonlyMap<string, JsonFragment>): RenderEvidence {
  const keyDigests: Record<string, string> = {};
  let undigestable: string | null = null;
  let canonical = '';
  for (const key of RENDER_KEYS) {
    const value = fields.get(key);
    if (value === undefined) continue;
    const text = canonicalField(key, value);
    if (text === null) {
      undigestable ??= key;
      continue;
    }
    keyDigests[key] = sha256Hex(text).slice(0, 16);
    canonical += `${canonical === '' ? '' : ','}"${key}":${text}`;
  }
  const outcome = undigestable === null ? { digest: replayDigest(`{${canonical}}`) } : { undigestable };
  return { outcome, keyDigests };
}

function canonicalField(key: string, value: JsonFragment): string | null {
  const bytes =
    typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const node = parseJson(bytes);
  if (isJsonProblem(node)) throw new Error(`the upstream field ${key} is not JSON: ${node.problem}`);
  return canonicalReplayWithoutNulls(node);
}
