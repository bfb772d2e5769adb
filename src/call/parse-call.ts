import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ServiceError } from '../errors.ts';
import { serviceError } from '../errors.ts';
import { ByteSink } from '../lineage/byte-sink.ts';
import { chat } from '../protocol/chat/index.ts';
import {
  type ConversionOptions,
  type ConvertedRequest,
  type Dialect,
  type DialectConverter,
  isRefusal,
  type RequestRefusal,
} from '../protocol/conversation.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import type { SeenValues } from '../protocol/json/known-values.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import { PrefixMemo } from '../protocol/json/prefix-memo.ts';
import { messages } from '../protocol/messages/index.ts';
import { responses } from '../protocol/responses/index.ts';

/** A request that was understood: converted for the engine, and its identity for the re-send rule. */
export interface ParsedCall {
  readonly request: ConvertedRequest;
  readonly body: JsonNode;
}

export const CONVERTERS: Readonly<Record<Dialect, DialectConverter>> = { responses, chat, messages };

/** Reads a body of the asked dialect (protocol section 2), with what is known of earlier ones. Every refusal names what to change; nothing is recorded. */
export function parseCall(
  dialect: Dialect,
  bytes: Buffer,
  options: ConversionOptions,
  maxDepth: number,
  seen: SeenValues | null = null,
): ParsedCall | ServiceError {
  const body = parseBody(bytes, maxDepth, seen);
  if (!('kind' in body) || !('bytes' in body)) return body as ServiceError;
  const request = CONVERTERS[dialect].convert(body, options);
  return isRefusal(request) ? refusedRequest(request) : { request, body };
}

/** A refusal of the conversion as an error of the catalogue. */
export function refusedRequest({ code, message, param, details }: RequestRefusal): ServiceError {
  return { ...serviceError('invalid_request', message, { param }), code, details };
}

/** Parses a body that must be a JSON object. Of a body that was parsed with what was seen before, nothing refers to `bytes` but what is not worth keeping. */
export function parseBody(bytes: Buffer, maxDepth: number, seen: SeenValues | null = null): JsonNode | ServiceError {
  const body = parseJson(bytes, seen === null ? { maxDepth } : { maxDepth, known: seen });
  if (isJsonProblem(body)) {
    return serviceError(
      'invalid_json',
      bytes.length === 0
        ? 'The request has no body; send a JSON object.'
        : `The body is not valid JSON: ${body.problem} (at byte ${body.offset}).`,
    );
  }
  if (!body.isObject())
    return serviceError('invalid_json', `The body must be a JSON object, not ${article(body.kind)}.`);
  seen?.detach(body);
  return body;
}

/** Members that say how a reply is to be sent, or something about the client itself; a re-send may have others. */
const NOT_THE_CALL: ReadonlySet<string> = new Set(['stream', 'stream_options', 'client_metadata', 'metadata']);

/**
 * Identity of a captured request for the re-send rule (design, "Never twice"): dialect and body, but for the members above, in whatever order the members stand. The
 * bytes of a member count as they came, since clients repeat the conversation byte for byte; Codex writes its `client_metadata` in another order each time, and
 * others count their tries there. What shapes the prompt is told apart by `evidence`, the digests of all of it; for the rest of a long member a checksum of its bytes is
 * enough, which costs a third of a digest. The parent that a header names is part of it: a request that names another one asks for another call. 64 hex
 * digits.
 */
export function requestDigest(
  dialect: Dialect,
  body: JsonNode,
  evidence: string,
  namedParent: string | null | undefined,
): string {
  const { keys, children } = body;
  IDENTITY.reset();
  IDENTITY.latin1(`${dialect}\0${evidence}`);
  if (namedParent !== undefined) IDENTITY.utf8(`\0${JSON.stringify(namedParent)}`);
  const order = keys.map((_, at) => at);
  order.sort((a, b) => compareText(keys[a] as string, keys[b] as string));
  for (const at of order) {
    const key = keys[at] as string;
    if (NOT_THE_CALL.has(key)) continue;
    IDENTITY.utf8(`\0${key}\0`);
    writeIdentity(children[at] as JsonNode);
  }
  return hash('sha256', IDENTITY.view());
}

/** Where the identity of a request is put together. */
const IDENTITY = new ByteSink(16 * 1024);

const compareText = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** Bytes up to which a member stands for itself. */
const SMALL_MEMBER = 1024;

function writeIdentity(value: JsonNode): void {
  if (value.end - value.start <= SMALL_MEMBER) {
    IDENTITY.copy(value.bytes, value.start, value.end);
  } else if (value.isArray()) {
    const { bytes, crc } = CHECKSUMS.ofAll(value.children);
    IDENTITY.latin1(`[${bytes}:${crc}]`);
  } else {
    IDENTITY.latin1(`${value.end - value.start}:${crc32(value.raw())}`);
  }
}

interface Checksum {
  bytes: number;
  crc: number;
}

const COMMA = Buffer.from(',');

/** Of the elements of a list, a comma behind each. */
const CHECKSUMS = new PrefixMemo<JsonNode, Checksum>({
  start: () => ({ bytes: 0, crc: 0 }),
  step(sum, element) {
    sum.bytes += element.end - element.start + COMMA.length;
    sum.crc = crc32(COMMA, crc32(element.raw(), sum.crc));
    return sum;
  },
  fork: (sum) => ({ ...sum }),
});

function article(kind: string): string {
  return kind === 'array'
    ? 'an array'
    : kind === 'null'
      ? 'null'
      : `a ${kind === 'true' || kind === 'false' ? 'boolean' : kind}`;
}
