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

/** Each of these lists its object's values in an order of its own, spelled out: a table of names to go through costs several times as much. */

const packBoundary = (it: Boundary) =>
  [it.itemCount, it.sourceDigest, it.emptyToolContentDigest, it.renderDigest, it.echoedIds, it.reasoning] as const;

const unpackBoundary = (list: ReturnType<typeof packBoundary>): Boundary => ({
  itemCount: list[0],
  sourceDigest: list[1],
  emptyToolContentDigest: list[2],
  renderDigest: list[3],
  echoedIds: list[4],
  reasoning: list[5],
});

const packAdmit = (it: AdmitRequest) =>
  [
    it.attempt,
    it.callId,
    it.replica,
    it.admittedAtS,
    it.boundary && packBoundary(it.boundary),
    it.namedParent,
    it.onAmbiguous,
    it.onUnmatched,
    it.afterFailure,
    it.maxCalls,
    it.resend && ([it.resend.requestDigest, it.resend.idempotencyKey] as const),
  ] as const;

const unpackAdmit = (list: ReturnType<typeof packAdmit>): AdmitRequest => ({
  attempt: list[0],
  callId: list[1],
  replica: list[2],
  admittedAtS: list[3],
  boundary: list[4] && unpackBoundary(list[4]),
  namedParent: list[5],
  onAmbiguous: list[6],
  onUnmatched: list[7],
  afterFailure: list[8],
  maxCalls: list[9],
  resend: list[10] && { requestDigest: list[10][0], idempotencyKey: list[10][1] },
});

const packIndex = (it: RecordIndex) =>
  [
    it.parentCallId,
    it.responseId,
    it.cumLen,
    it.chainHash,
    it.cumulativeHash,
    it.stagingKey,
    it.itemCount,
    it.sourceDigest,
    it.emptyToolContentDigest,
    it.renderDigest,
    it.outputIds,
    it.reasoning,
  ] as const;

const unpackIndex = (list: ReturnType<typeof packIndex>): RecordIndex => ({
  parentCallId: list[0],
  responseId: list[1],
  cumLen: list[2],
  chainHash: list[3],
  cumulativeHash: list[4],
  stagingKey: list[5],
  itemCount: list[6],
  sourceDigest: list[7],
  emptyToolContentDigest: list[8],
  renderDigest: list[9],
  outputIds: list[10],
  reasoning: list[11],
});

const packCommit = (it: CommitRequest) =>
  [it.attempt, it.callId, it.recordJson, packIndex(it.index), it.whyRootJson, it.sketchJson, it.replyJson] as const;

const unpackCommit = (list: ReturnType<typeof packCommit>): CommitRequest => ({
  attempt: list[0],
  callId: list[1],
  recordJson: list[2],
  index: unpackIndex(list[3]),
  whyRootJson: list[4],
  sketchJson: list[5],
  replyJson: list[6],
});

const packCandidate = (it: Candidate) =>
  [
    it.callId,
    it.cumLen,
    it.chainHash,
    it.stagingChain,
    it.itemCount,
    it.sourceDigest,
    it.emptyToolContentDigest,
    it.renderDigest,
    it.match,
  ] as const;

const unpackCandidate = (list: ReturnType<typeof packCandidate>): Candidate => ({
  callId: list[0],
  cumLen: list[1],
  chainHash: list[2],
  stagingChain: list[3],
  itemCount: list[4],
  sourceDigest: list[5],
  emptyToolContentDigest: list[6],
  renderDigest: list[7],
  match: list[8],
});

type Admission = Extract<AdmitOutcome, { kind: 'admitted' }>;

const packAdmission = (it: Admission) =>
  [it.candidate && packCandidate(it.candidate), it.rootedBy, it.recordsSeen, it.namedCallId] as const;

const unpackAdmission = (list: ReturnType<typeof packAdmission>): Admission => {
  const candidate = list[0] && unpackCandidate(list[0]);
  const admission = { kind: 'admitted', candidate, rootedBy: list[1], recordsSeen: list[2] } as const;
  return list[3] === undefined ? admission : { ...admission, namedCallId: list[3] };
};

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
      return { id, name, nowS, args: [unpackAdmit(args as ReturnType<typeof packAdmit>)] };
    case 'commit':
      return { id, name, nowS, args: [unpackCommit(args as ReturnType<typeof packCommit>)] };
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
      return { id, value: unpackAdmission(value as ReturnType<typeof packAdmission>) };
    case 'value':
      return { id, value };
    default:
      return { id, unavailable: kind === 'unavailable', message: value as string };
  }
}

function isAdmission(value: unknown): value is Admission {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'admitted';
}
