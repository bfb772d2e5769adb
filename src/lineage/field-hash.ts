import type { JsonNode } from '../protocol/json/json-node.ts';
import { ByteSink } from './byte-sink.ts';

/** An item that has no fingerprint. Never leaves this folder: the functions of fingerprints.ts turn it into a value. */
export class Unfingerprintable extends Error {}

/** The input of a fingerprint: fields of one tag byte, length and UTF-8 bytes, behind a domain (protocol section 8). */
export class FieldHash {
  private readonly domain: Uint8Array;
  private readonly sink = new ByteSink(64 * 1024);

  constructor(domain: string) {
    this.domain = Buffer.from(domain);
  }

  start(): void {
    this.sink.reset(this.domain);
  }

  field(tag: number, text: string): void {
    if (!text.isWellFormed()) throw new Unfingerprintable();
    this.sink.byte(tag);
    this.sink.text(text);
  }

  /** A field with the text of a string node; its bytes are taken as they are where nothing is escaped. */
  stringField(tag: number, node: JsonNode): void {
    if (node.escaped) {
      this.field(tag, node.string() as string);
      return;
    }
    this.sink.byte(tag);
    this.sink.u64(node.end - node.start - 2);
    this.sink.copy(node.bytes.subarray(node.start + 1, node.end - 1));
  }

  bytes(): Buffer {
    return this.sink.view();
  }
}
