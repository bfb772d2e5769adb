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

  reset(domain: Uint8Array): void {
    if (this.bytes.length > this.keepBytes) this.bytes = Buffer.allocUnsafeSlow(this.keepBytes);
    this.length = 0;
    this.copy(domain);
  }

  /** One byte. */
  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** An integer from 0 to 2^53 as 8 bytes, big-endian. */
  u64(value: number): void {
    this.reserve(8);
    this.bytes.writeUInt32BE(Math.floor(value / 0x1_0000_0000), this.length);
    this.bytes.writeUInt32BE(value >>> 0, this.length + 4);
    this.length += 8;
  }

  /** Each of the values as {@link u64}. Throws RangeError for what is no integer from 0 to below 2^53. */
  u64s(values: ArrayLike<number>, count: number): void {
    this.reserve(8 * count);
    const { bytes } = this;
    let at = this.length;
    for (let index = 0; index < count; index++, at += 8) {
      const value = values[index] as number;
      let high = 0;
      if (value >>> 0 !== value) {
        if (!Number.isSafeInteger(value) || value < 0)
          throw new RangeError('an integer from 0 to below 2^53 is expected');
        high = Math.floor(value / 0x1_0000_0000);
      }
      bytes[at] = high >>> 24;
      bytes[at + 1] = high >>> 16;
      bytes[at + 2] = high >>> 8;
      bytes[at + 3] = high;
      bytes[at + 4] = value >>> 24;
      bytes[at + 5] = value >>> 16;
      bytes[at + 6] = value >>> 8;
      bytes[at + 7] = value;
    }
    this.length = at;
  }

  /** Each of the values as a float of 4 bytes, big-endian. Throws RangeError for what a float cannot hold. */
  f32s(values: ArrayLike<number>): void {
    this.reserve(4 * values.length);
    const view = this.dataView();
    for (let index = 0; index < values.length; index++, this.length += 4) {
      const value = values[index] as number;
      if (!Number.isFinite(Math.fround(value))) throw new RangeError('a number within a 4-byte float is expected');
      view.setFloat32(this.length, value);
    }
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

  copy(source: Uint8Array): void {
    this.reserve(source.length);
    this.bytes.set(source, this.length);
    this.length += source.length;
  }

  /** A text as UTF-8 behind its length in bytes (u64). The text must be well-formed. */
  text(text: string): void {
    this.reserve(8 + 3 * text.length);
    const written = this.bytes.write(text, this.length + 8);
    this.u64(written);
    this.length += written;
  }

  /** What was written, as a view that the next write may change. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
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
