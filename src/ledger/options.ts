/** What a ledger needs to know, in the units of the configuration. */
export interface LedgerOptions {
  /**
   * `sqlite:<path>`, `sqlite::memory:`, `redis://`, `rediss://`, `redis+sentinel://h:p,h:p/<master>`, `redis+cluster://h:p,h:p`
   * (`rediss+sentinel`, `rediss+cluster`: the same over TLS). See ledger-url.ts.
   */
  readonly url: string;
  /** Names this process; another one at every start, so that a restarted replica finds what its predecessor left. */
  readonly replica: string;
  /** Seconds since the epoch, with fraction. */
  readonly now: () => number;
  /** Bounds of the replies that are kept for re-sends. Redis: `keepBytes` per replica, since no step may span hash slots; `keepS` holds for all. */
  readonly replies: { readonly keepBytes: number; readonly keepS: number };
  /** A replica that has not renewed its lease for so long counts as dead. */
  readonly leaseS: number;
  /** Attempts without any activity for so long, and without a call in flight, are deleted. Null: never. */
  readonly abandonedAfterS: number | null;
  /** Redis only. What the operator wants of the server; `check` reports what it gives. */
  readonly wantDurability?: {
    readonly appendfsyncAlways?: boolean;
    /** Every answered write has reached so many replicas (`WAIT`), else LedgerUnavailable. */
    readonly waitReplicas?: number;
    readonly waitMs?: number;
  };
  /** How long one operation may last, reconnects included, before it throws LedgerUnavailable. */
  readonly operationTimeoutMs?: number;
  readonly onEvent?: (event: LedgerEvent) => void;
}

/** How long news that nobody waits for (a reply was handed over) may wait for something to go with. */
export const CAN_WAIT_MS = 50;

export const DEFAULT_OPERATION_TIMEOUT_MS = 8000;

/** What the ledger tells beside its answers; for logs and metrics. */
export type LedgerEvent =
  | { readonly kind: 'connected' | 'disconnected'; readonly detail: string }
  /** Attempts that were deleted because of `abandonedAfterS`. */
  | { readonly kind: 'abandoned'; readonly attempts: readonly string[] }
  /** An admission whose answer was lost for good was settled as refused: its call never ran. */
  | { readonly kind: 'admission_voided'; readonly attempt: string; readonly callId: string }
  /** Work in the background failed; it is tried again. */
  | { readonly kind: 'background_failure'; readonly detail: string };
