import type { JsonNode } from '../protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import { ByteSink } from './byte-sink.ts';
import { writeCanonicalFingerprint } from './canonical-json.ts';
import { pythonStrip } from './python-text.ts';

/** An item that has no fingerprint. Never leaves this folder: the functions of fingerprints.ts turn it into a value. */
export class Unfingerprintable extends Error {}

/** Deepest arguments that are read; deeper ones have no canonical form anyway. */
const MAX_ARGUMENTS_DEPTH = 512;

/**
 * The input of a fingerprint: fields of one tag byte, length and UTF-8 bytes, behind a domain (protocol section 8). Texts go from the request's
 * bytes to the hash's without becoming JavaScript strings. Methods throw {@link Unfingerprintable} for lone surrogates and the like.
 */
export class FieldHash {
  private readonly domain: Uint8Array;
  private readonly sink = new ByteSink(64 * 1024);

  constructor(domain: string) {
    this.domain = Buffer.from(domain);
  }

  start(): void {
    this.sink.reset(this.domain);
  }

  /** Everything since `start`, as a view. */
  bytes(): Buffer {
    return this.sink.view();
  }

  text(tag: number, text: string): void {
    check(text.isWellFormed());
    const start = this.begin(tag);
    this.sink.utf8(text);
    this.sink.endFrame(start);
  }

  /** The text of a string node. */
  string(tag: number, node: JsonNode): void {
    const start = this.begin(tag);
    check(this.sink.decoded(node));
    this.sink.endFrame(start);
  }

  /** The canonical JSON of a value. */
  canonical(tag: number, node: JsonNode): void {
    const start = this.begin(tag);
    check(writeCanonicalFingerprint(this.sink, node));
    this.sink.endFrame(start);
  }

  /** Arguments of a call: nothing for null, a string parsed and written canonically, or trimmed where it is no JSON; else canonical JSON. */
  arguments(tag: number, node: JsonNode | undefined): void {
    if (node === undefined || node.isNull()) {
      this.text(tag, '');
      return;
    }
    if (!node.isString()) {
      this.canonical(tag, node);
      return;
    }
    argumentBytes.reset();
    check(argumentBytes.decoded(node));
    const text = argumentBytes.view();
    const parsed = parseJson(text, { allowNonFinite: true, maxDepth: MAX_ARGUMENTS_DEPTH });
    if (!isJsonProblem(parsed)) this.canonical(tag, parsed);
    else {
      check(!parsed.tooDeep);
      this.text(tag, pythonStrip(text.toString()));
    }
  }

  private begin(tag: number): number {
    this.sink.byte(tag);
    return this.sink.beginFrame();
  }
}

const argumentBytes = new ByteSink(16 * 1024);

function check(hashable: boolean): void {
  if (!hashable) throw new Unfingerprintable();
}
