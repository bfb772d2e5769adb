import type { JsonNode } from '../protocol/json/json-node.ts';

const BACKSLASH = 0x5c;
/** Copies up to this size are quicker byte by byte than by a call. */
const SMALL_COPY = 48;

/** A growing byte buffer for what is hashed in one piece. Used again and again: `reset` keeps the memory. */
export class ByteSink {
  private bytes: Buffer;
  private length = 0;
  /** Larger buffers are given back on reset. */
  private readonly keepBytes: number;

  constructor(initialBytes: number, keepBytes = 1 << 20) {
    this.bytes = Buffer.allocUnsafeSlow(initialBytes);
    this.keepBytes = keepBytes;
  }

  /** Forgets what was written; what follows stands behind `domain`. */
  reset(domain?: Uint8Array): void {
    if (this.bytes.length > this.keepBytes) this.bytes = Buffer.allocUnsafeSlow(this.keepBytes);
    this.length = 0;
    if (domain !== undefined) this.copy(domain, 0, domain.length);
  }

  /** What was written, as a view that the next write may change. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** A text of code units up to 0xff, each as one byte. */
  latin1(text: string): void {
    this.reserve(text.length);
    if (text.length > SMALL_COPY) {
      this.length += this.bytes.write(text, this.length, 'latin1');
      return;
    }
    const { bytes } = this;
    for (let at = 0; at < text.length; at++) bytes[this.length++] = text.charCodeAt(at);
  }

  /** A text as UTF-8. The text must be well-formed. */
  utf8(text: string): void {
    this.reserve(3 * text.length);
    if (text.length > SMALL_COPY || !this.wroteAscii(text)) this.length += this.bytes.write(text, this.length);
  }

  /** Writes a text if it is ASCII; for short ones this is quicker than the general way. */
  private wroteAscii(text: string): boolean {
    const { bytes } = this;
    let to = this.length;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit > 0x7f) return false;
      bytes[to++] = unit;
    }
    this.length = to;
    return true;
  }

  copy(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.reserve(count);
    if (count > SMALL_COPY) {
      this.bytes.set(source.subarray(start, end), this.length);
      this.length += count;
      return;
    }
    const { bytes } = this;
    for (let at = start; at < end; at++) bytes[this.length++] = source[at] as number;
  }

  /** The decoded text of a string node as UTF-8; false where it holds a lone surrogate. */
  decoded(node: JsonNode): boolean {
    if (!node.escaped) {
      this.copy(node.bytes, node.start + 1, node.end - 1);
      return true;
    }
    // An escape is never shorter than the UTF-8 of what it stands for.
    this.reserve(node.end - node.start);
    const source = node.bytes;
    const target = this.bytes;
    const end = node.end - 1;
    let at = node.start + 1;
    let to = this.length;
    for (;;) {
      let byte = source[at] as number;
      while (byte !== BACKSLASH && at < end) {
        target[to++] = byte;
        byte = source[++at] as number;
      }
      if (at === end) break;
      const letter = source[at + 1] as number;
      if (letter !== 0x75) {
        target[to++] = SHORT_ESCAPES[letter] as number;
        at += 2;
        continue;
      }
      let code = hex4(source, at + 2);
      at += 6;
      if (code >= 0xd800 && code <= 0xdfff) {
        const low = source[at] === BACKSLASH && source[at + 1] === 0x75 ? hex4(source, at + 2) : 0;
        if (code > 0xdbff || low < 0xdc00 || low > 0xdfff) return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
      }
      to = writeCodePoint(target, to, code);
    }
    this.length = to;
    return true;
  }

  /** An integer from 0 to below 2^53 as 8 bytes, big-endian. */
  u64(value: number): void {
    this.reserve(8);
    this.length = writeU64(this.bytes, this.length, value);
  }

  /** Each of the values as {@link u64}. Throws RangeError for what is no integer from 0 to below 2^53. */
  u64s(values: ArrayLike<number>): void {
    const count = values.length;
    this.reserve(8 * count);
    const { bytes } = this;
    let to = this.length;
    for (let index = 0; index < count; index++) to = writeU64(bytes, to, values[index] as number);
    this.length = to;
  }

  /** Begins a piece that stands behind its length in bytes (u64). Returns its start, for {@link endFrame}. */
  beginFrame(): number {
    this.reserve(8);
    this.length += 8;
    return this.length;
  }

  endFrame(start: number): void {
    writeU64(this.bytes, start - 8, this.length - start);
  }

  /** Each of the values as a float of 4 bytes, big-endian. Throws RangeError for what such a float cannot hold. */
  f32s(values: ArrayLike<number>): void {
    const count = values.length;
    this.reserve(4 * count);
    const view = this.dataView();
    let to = this.length;
    for (let index = 0; index < count; index++, to += 4) {
      const value = values[index] as number;
      if (!Number.isFinite(Math.fround(value))) throw new RangeError('a number within a 4-byte float is expected');
      view.setFloat32(to, value);
    }
    this.length = to;
  }

  /** A double, big-endian. */
  f64(value: number): void {
    this.reserve(8);
    this.dataView().setFloat64(this.length, value);
    this.length += 8;
  }

  /** A signed integer of 8 bytes, big-endian. */
  i64(value: bigint): void {
    this.reserve(8);
    this.dataView().setBigInt64(this.length, value);
    this.length += 8;
  }

  private dataView(): DataView {
    return new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, this.length + count));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}

/** Bytes that the escapes of one letter stand for, by letter. */
const SHORT_ESCAPES = new Uint8Array(128);
for (const pair of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'])
  SHORT_ESCAPES[pair.charCodeAt(0)] = pair.charCodeAt(1);

/** Four hex digits, known to be such. */
function hex4(bytes: Uint8Array, at: number): number {
  let code = 0;
  for (let digit = at; digit < at + 4; digit++) {
    const byte = bytes[digit] as number;
    code = (code << 4) | (byte <= 0x39 ? byte - 0x30 : (byte & 0xdf) - 0x37);
  }
  return code;
}

function writeCodePoint(bytes: Uint8Array, to: number, code: number): number {
  if (code < 0x80) {
    bytes[to] = code;
    return to + 1;
  }
  if (code < 0x800) {
    bytes[to] = 0xc0 | (code >> 6);
    bytes[to + 1] = 0x80 | (code & 0x3f);
    return to + 2;
  }
  if (code < 0x10000) {
    bytes[to] = 0xe0 | (code >> 12);
    bytes[to + 1] = 0x80 | ((code >> 6) & 0x3f);
    bytes[to + 2] = 0x80 | (code & 0x3f);
    return to + 3;
  }
  bytes[to] = 0xf0 | (code >> 18);
  bytes[to + 1] = 0x80 | ((code >> 12) & 0x3f);
  bytes[to + 2] = 0x80 | ((code >> 6) & 0x3f);
  bytes[to + 3] = 0x80 | (code & 0x3f);
  return to + 4;
}

function writeU64(bytes: Uint8Array, to: number, value: number): number {
  let high = 0;
  if (value >>> 0 !== value) {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('an integer from 0 to below 2^53 is expected');
    high = Math.floor(value / 0x1_0000_0000);
  }
  bytes[to] = high >>> 24;
  bytes[to + 1] = high >>> 16;
  bytes[to + 2] = high >>> 8;
  bytes[to + 3] = high;
  bytes[to + 4] = value >>> 24;
  bytes[to + 5] = value >>> 16;
  bytes[to + 6] = value >>> 8;
  bytes[to + 7] = value;
  return to + 8;
}
