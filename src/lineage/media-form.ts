import type { EnginePart } from '../protocol/conversation.ts';
import { fragmentText } from '../protocol/json/fragment.ts';
import { equalityForm } from './equality-form.ts';

export type MediaPart = Extract<EnginePart, { type: 'media' }>;

/** Members of a part that are never evidence (protocol section 3). */
const NEVER_EVIDENCE = new Set([
  'id',
  'status',
  'index',
  'annotations',
  'logprobs',
  'encrypted_content',
  'cache_control',
]);

/**
 * The form in which an image, file, audio or video reference is compared: by JSON value, without null members, without the members that are
 * never evidence, and with `detail: "auto"` read as no detail.
 */
export function mediaForm(part: MediaPart): string {
  return equalityForm(fragmentText(part.json), isEvidence);
}

function isEvidence(key: string, value: unknown, depth: number): boolean {
  if (value === null) return false;
  if (depth === 0 && NEVER_EVIDENCE.has(key)) return false;
  return !(key === 'detail' && value === 'auto' && depth <= 1);
}
