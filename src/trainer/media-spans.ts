import type { JsonNode } from '../protocol/json/json-node.ts';

/** Members of a media occurrence; `frames` only for a video. */
const MEMBERS: ReadonlySet<string> = new Set(['modality', 'start', 'length', 'height', 'width', 'frames']);

/**
 * Checks the media occurrences of a staged call (protocol section 11, "Shapes"): each exact, in order, without overlap, wholly inside the new
 * prompt tokens of the delta, from whose first token `start` counts. Null if all is well, else a sentence. Extras without `media_spans` pass.
 */
export function checkMediaSpans(extras: JsonNode | null, newPromptTokens: number): string | null {
  const spans = extras?.get('media_spans');
  if (spans === undefined || spans.isNull()) return null;
  if (!spans.isArray()) return 'media_spans is no list';
  let end = 0;
  for (const [at, span] of spans.elements().entries()) {
    const why = checkSpan(span);
    if (why !== null) return `media_spans[${at}] ${why}`;
    const start = span.get('start')?.number() as number;
    if (start < end) return `media_spans[${at}] begins at ${start}, before the one before it ends (${end})`;
    end = start + (span.get('length')?.number() as number);
    if (end > newPromptTokens)
      return `media_spans[${at}] ends at ${end}, behind the ${newPromptTokens} new prompt tokens`;
  }
  return null;
}

function checkSpan(span: JsonNode): string | null {
  if (!span.isObject()) return 'is no object';
  const unknown = span.keys.find((key) => !MEMBERS.has(key));
  if (unknown !== undefined) return `has an unknown member ${unknown}`;
  const modality = span.get('modality')?.string();
  if (modality !== 'image' && modality !== 'video') return 'has a modality other than image and video';
  const start = span.get('start')?.number();
  if (start === undefined || !Number.isSafeInteger(start) || start < 0) return 'has no start';
  for (const name of ['length', 'height', 'width']) {
    if (!isCount(span.get(name))) return `has no positive ${name}`;
  }
  const frames = span.present('frames');
  if (modality === 'image') return frames === undefined ? null : 'is an image and has frames';
  return isCount(frames) ? null : 'is a video and has no positive frames';
}

function isCount(node: JsonNode | undefined): boolean {
  const value = node?.number();
  return value !== undefined && Number.isSafeInteger(value) && value > 0;
}
