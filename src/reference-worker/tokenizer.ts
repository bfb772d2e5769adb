/** Ids of the template's own tokens. No text ever becomes one of them, whatever it says. */
export const SPECIAL_TOKENS = {
  begin: 1,
  /** e of protocol section 5: ends every message. */
  end: 2,
  system: 3,
  user: 4,
  assistant: 5,
  tool: 6,
  reasoning: 7,
  reasoningEnd: 8,
  toolCall: 9,
  media: 10,
} as const;

/** First id of a piece of text; below it are special tokens and room for the entries of a vocabulary. */
export const FIRST_TEXT_TOKEN = 2048;
/** One past the largest id of a piece of text. */
export const VOCABULARY_SIZE = 131_072;

/** A token with the text it stands for ("" for all but the first token of a vocabulary entry). */
export interface Piece {
  readonly id: number;
  readonly text: string;
}

export interface Tokenizer {
  /** Tokens of a text inside a rendered prompt. */
  encode(text: string): readonly number[];
  /** Tokens in which the model "writes" a text: shorter pieces, so a rendering of the same text gives other tokens, as with real engines. */
  sample(text: string): Piece[];
}

const WORDS = / ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+/gu;
const ENCODED_PIECE_CHARS = 12;
const SAMPLED_PIECE_CHARS = 4;
/** Agents send the same long history again and again; so many characters of it are kept tokenized. */
const CACHED_CHARS = 8 * 1024 * 1024;
const CACHED_FROM_CHARS = 256;

/**
 * The deterministic toy tokenizer: words cut into short pieces, each with an id from a hash of its text, the same in every process. `vocabulary`
 * gives whole texts their ids (a message's text that is exactly an entry becomes exactly those ids), as the worked example of section 12 needs.
 */
export function createTokenizer(vocabulary: ReadonlyMap<string, readonly number[]> = new Map()): Tokenizer {
  let cache = new Map<string, readonly number[]>();
  let cachedChars = 0;
  const encode = (text: string): readonly number[] => {
    const entry = vocabulary.get(text);
    if (entry !== undefined) return entry;
    if (text.length < CACHED_FROM_CHARS) return pieces(text, ENCODED_PIECE_CHARS).map((piece) => piece.id);
    const known = cache.get(text);
    if (known !== undefined) return known;
    const ids = pieces(text, ENCODED_PIECE_CHARS).map((piece) => piece.id);
    if (cachedChars + text.length > CACHED_CHARS) {
      cache = new Map();
      cachedChars = 0;
    }
    cache.set(text, ids);
    cachedChars += text.length;
    return ids;
  };
  const sample = (text: string): Piece[] => {
    const entry = vocabulary.get(text);
    if (entry !== undefined) return entry.map((id, at) => ({ id, text: at === 0 ? text : '' }));
    return pieces(text, SAMPLED_PIECE_CHARS);
  };
  return { encode, sample };
}

/** The text cut into words and these into at most `maxChars` UTF-16 units, never inside a surrogate pair. Joined they give the text again. */
function pieces(text: string, maxChars: number): Piece[] {
  const out: Piece[] = [];
  for (const word of text.match(WORDS) ?? []) {
    for (let at = 0; at < word.length; ) {
      let end = Math.min(at + maxChars, word.length);
      if (end < word.length && isHighSurrogate(word.charCodeAt(end - 1))) end--;
      const piece = word.slice(at, end);
      out.push({ id: textTokenId(piece), text: piece });
      at = end;
    }
  }
  return out;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** FNV-1a over UTF-16 units, folded into the ids of text. */
function textTokenId(piece: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < piece.length; at++) hash = Math.imul(hash ^ piece.charCodeAt(at), 0x01000193);
  return FIRST_TEXT_TOKEN + ((hash >>> 0) % (VOCABULARY_SIZE - FIRST_TEXT_TOKEN));
}
