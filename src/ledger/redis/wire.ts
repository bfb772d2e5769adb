import { admissionDigest } from '../admission-digest.ts';
import { entryText, readAncestry } from '../ancestry.ts';
import type {
  AdmitRequest,
  Boundary,
  Candidate,
  CommitRequest,
  ProposeRequest,
  RecordIndex,
  StoredSketch,
} from '../ledger.ts';

/** Arguments and replies of the scripts, typed; the scripts' headers say what they mean. */

/** `delivered`: calls of the attempt whose replies have been handed over. */
export function admitArgs(request: AdmitRequest, isRegistered: boolean, delivered: readonly string[]): string[] {
  const { resend } = request;
  return [
    request.callId,
    request.replica,
    isRegistered ? '1' : '0',
    String(request.admittedAtS),
    admissionDigest(request),
    String(request.maxCalls),
    request.afterFailure,
    request.onAmbiguous,
    request.onUnmatched,
    resend?.requestDigest ?? '',
    resend?.idempotencyKey == null ? '' : `=${resend.idempotencyKey}`,
    ...searchArgs(request),
    delivered.join(' '),
  ];
}

export function searchArgs({ namedParent, boundary }: Pick<ProposeRequest, 'namedParent' | 'boundary'>): string[] {
  return [
    namedParent === undefined ? 'search' : namedParent === null ? 'none' : 'named',
    namedParent == null ? '' : idText(namedParent),
    boundary?.emptyToolContentDigest ?? '',
    boundary?.renderDigest ?? '',
    String(boundary?.itemCount ?? ''),
    JSON.stringify((boundary?.echoedIds ?? []).map(idText)),
    reasoningArg(boundary),
  ];
}

function reasoningArg(boundary: Boundary | null): string {
  const reasoning = boundary?.reasoning;
  return reasoning?.some((digest) => digest !== null) ? JSON.stringify(reasoning) : '';
}

export function commitArgs(request: CommitRequest, replyJson: string | null, keepMs: number, nowS: number): string[] {
  const { index } = request;
  return [
    request.callId,
    request.recordJson,
    indexText(index),
    index.parentCallId ?? '',
    entryText(request.attempt, index),
    index.emptyToolContentDigest,
    idText(index.responseId),
    request.whyRootJson ?? '',
    JSON.stringify([request.callId, index.parentCallId, index.renderDigest]) + request.sketchJson,
    replyJson ?? '',
    String(keepMs),
    String(nowS),
  ];
}

/**
 * An id of clients and engines as the scripts compare it: itself, or its JSON text where it holds what they cannot take (lone surrogates, NUL), which no other id is
 * written as.
 */
function idText(id: string): string {
  return id.isWellFormed() && !/^"|\0/.test(id) ? id : JSON.stringify(id);
}

type IndexList = [
  cumLen: string,
  cumulativeHash: string,
  itemCount: string,
  source: string,
  second: string,
  render: string,
  outputIds: string[],
  responseId: string,
  chainHash: string,
];

function indexText(index: RecordIndex): string {
  const list: IndexList = [
    String(index.cumLen),
    index.cumulativeHash,
    String(index.itemCount),
    index.sourceDigest,
    index.emptyToolContentDigest,
    index.renderDigest,
    index.outputIds.map(idText),
    idText(index.responseId),
    index.chainHash,
  ];
  return JSON.stringify(list);
}

/** The candidate's part of a reply, as `describe` (lua/lib/search.lua) gives it. Empty: no candidate. */
export function readCandidate(attempt: string, parts: readonly string[], boundary: Boundary | null): Candidate | null {
  const [callId, place, ...chunks] = parts;
  if (callId === undefined || place === undefined) return null;
  const [cumLen, , itemCount, sourceDigest, emptyToolContentDigest, renderDigest, , , chainHash] = JSON.parse(
    place.slice(place.indexOf('[')),
  ) as IndexList;
  const bodies = chunks.map((text) => text.slice(text.indexOf(' ') + 1)).reverse();
  return {
    callId,
    cumLen: Number(cumLen),
    chainHash,
    stagingChain: readAncestry(attempt, bodies).stagingChain,
    itemCount: Number(itemCount),
    sourceDigest,
    emptyToolContentDigest,
    renderDigest,
    match: sourceDigest === boundary?.sourceDigest ? 'exact' : 'empty_tool_content',
  };
}

/** `[call id, parent, render digest]` and the sketch, both JSON, one after the other. */
export function readSketch(text: string): StoredSketch {
  const end = text.indexOf(']') + 1;
  const [callId, parentCallId, renderDigest] = JSON.parse(text.slice(0, end)) as [string, string | null, string];
  return { callId, parentCallId, renderDigest, sketchJson: text.slice(end) };
}

/** `<call id> <rest>` */
export function splitRow(row: string): [callId: string, rest: string] {
  const space = row.indexOf(' ');
  return [row.slice(0, space), row.slice(space + 1)];
}
