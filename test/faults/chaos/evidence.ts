/** What a run leaves behind: what agents and trainers saw, and what the worker says of itself. The checks read nothing else. */
export interface Evidence {
  readonly incarnations: readonly Incarnation[];
  readonly sent: readonly Sent[];
  readonly worker: WorkerEvidence;
  /** What was wrong the moment it was seen. */
  readonly seen: readonly Violation[];
}

/** One life of an attempt's name: from its first call, or from the delete before it, to its own delete. */
export interface Incarnation {
  readonly number: number;
  readonly attempt: string;
  readonly generation: number;
  /** What was read, one after the other: the ledger that the first close gave, and the latest one. */
  closed: Reading | null;
  latest: Reading | null;
  /** A close was sent. */
  closeAsked: boolean;
  removed: 'retired' | 'deleted' | null;
  /** Its last reading was taken when everything ran again and every call had its end. */
  isFinal: boolean;
}

/** A ledger as the trainer read it; times are ms since the epoch. */
export interface Reading {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly state: 'open' | 'closed';
  readonly records: readonly RecordFacts[];
  readonly failures: readonly { readonly callId: string; readonly reason: string }[];
  readonly attempted: readonly string[];
  readonly pending: readonly string[];
  readonly refused: readonly { readonly callId: string; readonly code: string }[];
  /** As it came; null where it was not kept. */
  readonly text: string | null;
}

export interface RecordFacts {
  readonly callId: string;
  readonly parentCallId: string | null;
  readonly responseId: string;
  readonly prevLen: number;
  readonly deltaLen: number;
  readonly cumLen: number;
  readonly digest: string;
  readonly chainHash: string;
  readonly cumulativeHash: string;
  readonly stagingKey: string;
  readonly status: string | null;
  /** Of the whole record. */
  readonly hash: string;
}

/** One request of an agent and what came back. */
export interface Sent {
  readonly incarnation: number;
  readonly dialect: string;
  readonly stream: boolean;
  readonly key: string | null;
  /** Mark of its last text, if no other request has it but re-sends of this one. */
  readonly mark: string | null;
  /** What the history says: it ends with a turn that was received whole, it holds no assistant turn, or neither. */
  readonly expects: 'continuation' | 'root' | null;
  readonly sentMs: number;
  endedMs: number;
  /** `broken`: no whole answer came; `hung_up`: nor was it waited for. */
  outcome: 'reply' | 'error' | 'broken' | 'hung_up';
  status: number | null;
  code: string | null;
  /** `x-request-id`. */
  callId: string | null;
  /** Of every reply of which so much arrived, also of one that broke off. */
  responseId: string | null;
  /** Hash of a whole reply's bytes. */
  replyHash: string | null;
}

export interface WorkerEvidence {
  /** Call id → how often it was admitted, and what was proposed. */
  readonly admitted: ReadonlyMap<string, Admitted[]>;
  readonly staged: ReadonlyMap<string, StagedFacts>;
  readonly acknowledged: ReadonlySet<string>;
  readonly conversations: ReadonlyMap<string, Conversation>;
  /** Misbehaviour by call id. */
  readonly faults: ReadonlyMap<string, string>;
}

export interface Admitted {
  readonly attempt: string;
  readonly parentCallId: string | null;
  readonly atMs: number;
}

export interface StagedFacts {
  readonly parentCallId: string | null;
  readonly prevLen: number;
  readonly cumLen: number;
  readonly digest: string;
  readonly chainHash: string;
  readonly cumulativeHash: string;
  readonly delta: Int32Array;
  readonly mask: Uint8Array;
  /** The staged record as the trainer kit reads it; null where it was not kept. */
  readonly text: string | null;
}

export interface Conversation {
  readonly attempt: string;
  readonly tags: readonly string[];
  readonly hashes: readonly string[];
  readonly roles: readonly string[];
  /** Hash with the answer; null where the worker made none. */
  answer: string | null;
}

/** A broken invariant of design.md. */
export interface Violation {
  /** Number in design.md; 0: a promise of the protocol that stands in no invariant. */
  readonly invariant: number;
  /** What should hold, in short. */
  readonly rule: string;
  readonly attempt: string;
  readonly callId: string | null;
  readonly detail: string;
}
