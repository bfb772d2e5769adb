import type {
  AdmitOutcome,
  AdmitRequest,
  Boundary,
  Candidate,
  CommitRequest,
  RecordIndex,
  ResendKey,
} from '../ledger.ts';
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

type List = readonly unknown[];

export const packJobs = (jobs: readonly Job[]): PackedJob[] => packed(jobs, packJob);
export const packAnswers = (answers: readonly Answer[]): PackedAnswer[] => packed(answers, packAnswer);

/** Not by `map`, whose lists may have holes for all that V8 knows, so that they cross as objects with an index for each name. */
function packed<T, P>(values: readonly T[], pack: (value: T) => P): P[] {
  const list: P[] = [];
  for (const value of values) list.push(pack(value));
  return list;
}

/** Objects of one type as lists of their values, and back. */
interface Lists<T> {
  pack(object: T): List;
  unpack(list: List): T;
}

/** `members`: all that the type has; those that are objects, or null, with lists of their own. */
function lists<T extends object>(
  members: { readonly [Name in keyof T]-?: true | Lists<NonNullable<T[Name]>> },
): Lists<T> {
  const entries = Object.entries(members) as [keyof T, true | Lists<unknown>][];
  return {
    pack: (object) =>
      packed(entries, ([name, own]) => {
        const value = object[name];
        return own === true || value === null ? value : own.pack(value);
      }),
    unpack(list) {
      const object: { [Name in keyof T]?: unknown } = {};
      entries.forEach(([name, own], at) => {
        const value = list[at];
        object[name] = own === true || value === null ? value : own.unpack(value as List);
      });
      return object as T;
    },
  };
}

type Admission = Extract<AdmitOutcome, { kind: 'admitted' }>;

const BOUNDARY = lists<Boundary>({
  itemCount: true,
  sourceDigest: true,
  emptyToolContentDigest: true,
  renderDigest: true,
  echoedIds: true,
  reasoning: true,
});
const RESEND = lists<ResendKey>({ requestDigest: true, idempotencyKey: true });
const ADMIT = lists<AdmitRequest>({
  attempt: true,
  callId: true,
  replica: true,
  admittedAtS: true,
  boundary: BOUNDARY,
  namedParent: true,
  onAmbiguous: true,
  onUnmatched: true,
  afterFailure: true,
  maxCalls: true,
  resend: RESEND,
});
const INDEX = lists<RecordIndex>({
  parentCallId: true,
  responseId: true,
  cumLen: true,
  chainHash: true,
  cumulativeHash: true,
  stagingKey: true,
  itemCount: true,
  sourceDigest: true,
  emptyToolContentDigest: true,
  renderDigest: true,
  outputIds: true,
  reasoning: true,
});
const COMMIT = lists<CommitRequest>({
  attempt: true,
  callId: true,
  recordJson: true,
  index: INDEX,
  whyRootJson: true,
  sketchJson: true,
  replyJson: true,
});
const CANDIDATE = lists<Candidate>({
  callId: true,
  cumLen: true,
  chainHash: true,
  stagingChain: true,
  itemCount: true,
  sourceDigest: true,
  emptyToolContentDigest: true,
  renderDigest: true,
  match: true,
});
const ADMISSION = lists<Admission>({
  kind: true,
  candidate: CANDIDATE,
  rootedBy: true,
  namedCallId: true,
  recordsSeen: true,
});

function packJob({ id, name, nowS, args }: Job): PackedJob {
  switch (name) {
    case 'admit':
      return [id, name, nowS, ADMIT.pack(args[0] as AdmitRequest)];
    case 'commit':
      return [id, name, nowS, COMMIT.pack(args[0] as CommitRequest)];
    default:
      return [id, name, nowS, args];
  }
}

export function unpackJob([id, name, nowS, args]: PackedJob): Job {
  switch (name) {
    case 'admit':
      return { id, name, nowS, args: [ADMIT.unpack(args)] };
    case 'commit':
      return { id, name, nowS, args: [COMMIT.unpack(args)] };
    default:
      return { id, name, nowS, args };
  }
}

function packAnswer(answer: Answer): PackedAnswer {
  if (!('value' in answer)) return [answer.id, answer.unavailable ? 'unavailable' : 'defect', answer.message];
  const { id, value } = answer;
  return isAdmission(value) ? [id, 'admission', ADMISSION.pack(value)] : [id, 'value', value];
}

export function unpackAnswer([id, kind, value]: PackedAnswer): Answer {
  switch (kind) {
    case 'admission': {
      const { namedCallId, ...admission } = ADMISSION.unpack(value as List);
      return { id, value: namedCallId === undefined ? admission : { ...admission, namedCallId } };
    }
    case 'value':
      return { id, value };
    default:
      return { id, unavailable: kind === 'unavailable', message: value as string };
  }
}

function isAdmission(value: unknown): value is Admission {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'admitted';
}
