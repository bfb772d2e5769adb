/** Writing server-sent events. Every dialect's stream is rendered in full before its first byte is sent. */

/** The last frame of a Chat stream. */
export const SSE_DONE = 'data: [DONE]\n\n';

/** Raw line breaks, which in JSON are white space between tokens, and what some clients take for one, which in JSON can only stand in strings. */
const LINE_BREAK = /[\r\n\u0085\u2028\u2029]/;
const LINE_BREAKS = /[\r\n\u0085\u2028\u2029]/g;

/**
 * One frame: `event: <name>` (where given) and one `data:` line. `json` is JSON text; its line breaks become spaces, and the characters that
 * some clients take for line breaks become escapes, so the value is unchanged.
 */
export function sseFrame(json: string, event: string | null = null): string {
  return `${frameStart(event)}${singleLine(json)}${FRAME_END}`;
}

/** What stands before the {@link singleLine} of a frame. */
export function frameStart(event: string | null): string {
  return event === null ? 'data: ' : `event: ${event}\ndata: `;
}

/** What stands behind it. */
export const FRAME_END = '\n\n';

/** JSON text, or a part of it between tokens, with the same value and nothing in it that any client takes for a line break. */
export function singleLine(json: string): string {
  return LINE_BREAK.test(json) ? json.replace(LINE_BREAKS, harmless) : json;
}

function harmless(char: string): string {
  if (char === '\r' || char === '\n') return ' ';
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const MIN_PIECE = 64;
const MAX_PIECES = 256;

/** UTF-16 units per delta for a text of this length: short enough to look like a stream, long enough for a text of megabytes. */
export function pieceSize(length: number): number {
  return Math.max(MIN_PIECE, Math.ceil(length / MAX_PIECES));
}

/**
 * Cuts a text into pieces of at most `size` UTF-16 units (at least 2; one more never, one less where a pair would be cut). A cut never falls
 * between the two surrogates of a pair; a lone surrogate survives as a JSON escape. The pieces joined are the text; an empty text has none.
 */
export function pieces(text: string, size: number = pieceSize(text.length)): string[] {
  const step = Math.max(2, Math.floor(size));
  const out: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + step, text.length);
    if (end < text.length && isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end))) end--;
    out.push(text.slice(start, end));
    start = end;
  }
  return out;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
