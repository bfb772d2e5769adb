export const CONTROL_TOKEN = 'chaos-control-token-00';
/** Short, so that a run sees many leases run out. */
export const LEASE_S = 1;
/** Longer than a request whose connection is gone can still be on its way into the ledger: the ledger's own patience and some. */
export const LIMBO_MS = 12_000;
