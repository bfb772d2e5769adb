import type { AdmitOutcome, AdmitRequest, Boundary, Candidate, CommitRequest, RecordIndex } from '../ledger.ts';
import type { Answer, Job } from './transactions.ts';

/**
 * Jobs and answers as they cross to the ledger's thread and back. What every call sends goes as lists: names of members would be written, read and looked up with each
 * object, which costs more than the values.
 */
export type PackedJob = readonly [id: number, name: Job['name'], nowS: number, args: readonly unknown[]];
export type PackedAnswer = readonly [
  id: number,
  kind: 'admission' | 'value' | 'unavailable' | 'defect',
  value: unknown,
];

export const packJobs = (jobs: readonly Job[]): PackedJob[] => packed(jobs, packJob);
export const packAnswers = (answers: readonly Answer[]): PackedAnswer[] => packed(answers, packAnswer);

/** Not by `map`, whose lists may have holes for all that V8 knows, so that they cross as objects with an index for each name. */
function packed<T, P>(values: readonly T[], pack: (value: T) => P): P[] {
  const list: P[] = [];
  for (const value of values) list.push(pack(value));
  return list;
}

function packJob({ id, name, nowS, args }: Job): PackedJob {
  switch (name) {
    case 'admit':
      return [id, name, nowS, packAdmit(args[0] as AdmitRequest)];
    case 'commit':
      return [id, name, nowS, packCommit(args[0] as CommitRequest)];
    default:
      return [id, name, nowS, args];
  }
}

export function unpackJob([id, name, nowS, args]: PackedJob): Job {
  switch (name) {
    case 'admit':
      return { id, name, nowS, args: [unpackAdmit(args as PackedAdmit)] };
    case 'commit':
      return { id, name, nowS, args: [unpackCommit(args as PackedCommit)] };
    default:
      return { id, name, nowS, args };
  }
}

function packAnswer(answer: Answer): PackedAnswer {
  if (!('value' in answer)) return [answer.id, answer.unavailable ? 'unavailable' : 'defect', answer.message];
  const { id, value } = answer;
  return isAdmission(value) ? [id, 'admission', packAdmission(value)] : [id, 'value', value];
}

export function unpackAnswer([id, kind, value]: PackedAnswer): Answer {
  switch (kind) {
    case 'admission':
      return { id, value: unpackAdmission(value as PackedAdmission) };
    case 'value':
      return { id, value };
    default:
      return { id, unavailable: kind === 'unavailable', message: value as string };
  }
}

type PackedAdmit = ReturnType<typeof packAdmit>;
function packAdmit(request: AdmitRequest) {
  const { boundary, resend } = request;
  return [
    request.attempt,
    request.callId,
    request.replica,
    request.admittedAtS,
    boundary && packBoundary(boundary),
    request.namedParent,
    request.onAmbiguous,
    request.onUnmatched,
    request.afterFailure,
    request.maxCalls,
    resend && ([resend.requestDigest, resend.idempotencyKey] as const),
  ] as const;
}

function unpackAdmit(packed: PackedAdmit): AdmitRequest {
  const [attempt, callId, replica, admittedAtS, boundary, namedParent, onAmbiguous, onUnmatched] = packed;
  const [, , , , , , , , afterFailure, maxCalls, resend] = packed;
  return {
    attempt,
    callId,
    replica,
    admittedAtS,
    boundary: boundary && unpackBoundary(boundary),
    namedParent,
    onAmbiguous,
    onUnmatched,
    afterFailure,
    maxCalls,
    resend: resend && { requestDigest: resend[0], idempotencyKey: resend[1] },
  };
}

type PackedBoundary = ReturnType<typeof packBoundary>;
function packBoundary(boundary: Boundary) {
  return [
    boundary.itemCount,
    boundary.sourceDigest,
    boundary.emptyToolContentDigest,
    boundary.renderDigest,
    boundary.echoedIds,
    boundary.reasoning,
  ] as const;
}

function unpackBoundary(packed: PackedBoundary): Boundary {
  const [itemCount, sourceDigest, emptyToolContentDigest, renderDigest, echoedIds, reasoning] = packed;
  return { itemCount, sourceDigest, emptyToolContentDigest, renderDigest, echoedIds, reasoning };
}

type PackedCommit = ReturnType<typeof packCommit>;
function packCommit(request: CommitRequest) {
  return [
    request.attempt,
    request.callId,
    request.recordJson,
    packIndex(request.index),
    request.whyRootJson,
    request.sketchJson,
    request.replyJson,
  ] as const;
}

function unpackCommit(packed: PackedCommit): CommitRequest {
  const [attempt, callId, recordJson, index, whyRootJson, sketchJson, replyJson] = packed;
  return { attempt, callId, recordJson, index: unpackIndex(index), whyRootJson, sketchJson, replyJson };
}

type PackedIndex = ReturnType<typeof packIndex>;
function packIndex(index: RecordIndex) {
  return [
    index.parentCallId,
    index.responseId,
    index.cumLen,
    index.chainHash,
    index.cumulativeHash,
    index.stagingKey,
    index.itemCount,
    index.sourceDigest,
    index.emptyToolContentDigest,
    index.renderDigest,
    index.outputIds,
    index.reasoning,
  ] as const;
}

function unpackIndex(packed: PackedIndex): RecordIndex {
  const [parentCallId, responseId, cumLen, chainHash, cumulativeHash, stagingKey] = packed;
  const [, , , , , , itemCount, sourceDigest, emptyToolContentDigest, renderDigest, outputIds, reasoning] = packed;
  return {
    parentCallId,
    responseId,
    cumLen,
    chainHash,
    cumulativeHash,
    stagingKey,
    itemCount,
    sourceDigest,
    emptyToolContentDigest,
    renderDigest,
    outputIds,
    reasoning,
  };
}

type Admission = Extract<AdmitOutcome, { kind: 'admitted' }>;

function isAdmission(value: unknown): value is Admission {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'admitted';
}

type PackedAdmission = ReturnType<typeof packAdmission>;
function packAdmission({ candidate, rootedBy, namedCallId, recordsSeen }: Admission) {
  return [candidate && packCandidate(candidate), rootedBy, namedCallId, recordsSeen] as const;
}

function unpackAdmission([candidate, rootedBy, namedCallId, recordsSeen]: PackedAdmission): Admission {
  const named = namedCallId === undefined ? {} : { namedCallId };
  return { kind: 'admitted', candidate: candidate && unpackCandidate(candidate), rootedBy, ...named, recordsSeen };
}

type PackedCandidate = ReturnType<typeof packCandidate>;
function packCandidate(candidate: Candidate) {
  return [
    candidate.callId,
    candidate.cumLen,
    candidate.chainHash,
    candidate.stagingChain,
    candidate.itemCount,
    candidate.sourceDigest,
    candidate.emptyToolContentDigest,
    candidate.renderDigest,
    candidate.match,
  ] as const;
}

function unpackCandidate(packed: PackedCandidate): Candidate {
  const [callId, cumLen, chainHash, stagingChain, itemCount] = packed;
  const [, , , , , sourceDigest, emptyToolContentDigest, renderDigest, match] = packed;
  return {
    callId,
    cumLen,
    chainHash,
    stagingChain,
    itemCount,
    sourceDigest,
    emptyToolContentDigest,
    renderDigest,
    match,
  };
}
