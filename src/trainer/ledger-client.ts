import { readFile } from 'node:fs/promises';
import { type Ledger, manifestedCalls } from '../ledger/ledger.ts';
import { expectOk, get, type HttpOptions, postJson } from './http.ts';
import { type LedgerView, readLedgerView } from './ledger-view.ts';
import { type Checked, reason, refused } from './reasons.ts';

/** Longer waits are asked for in several requests: clients and gateways give up on a reply that does not begin within minutes. */
const LONGEST_WAIT_S = 120;

/** The trainer's client of a proxy's control side (protocol section 7). Methods throw where the proxy cannot be asked or answers with an error. */
export class LedgerClient {
  private readonly base: string;
  private readonly http: HttpOptions;

  /** `controlUrl`: where `/ledger/<attempt>` is; the control token stands in `http.token`. */
  constructor(controlUrl: string, http: HttpOptions = {}) {
    this.base = controlUrl.replace(/\/+$/, '');
    this.http = http;
  }

  /** The address of an attempt's ledger. */
  url(attempt: string): string {
    return `${this.base}/ledger/${encodeURIComponent(attempt)}`;
  }

  read(attempt: string): Promise<Checked<LedgerView>> {
    return readLedgerUrl(this.url(attempt), this.http);
  }

  /** Closes admissions and waits up to `waitS` seconds for running calls; gives the ledger, complete or not. */
  async close(attempt: string, waitS = 300): Promise<Checked<LedgerView>> {
    for (let leftS = waitS; ; leftS -= LONGEST_WAIT_S) {
      const wait = Math.min(leftS, LONGEST_WAIT_S);
      const url = `${this.url(attempt)}/close?wait_s=${wait}`;
      const timeoutMs = (this.http.timeoutMs ?? 60_000) + wait * 1000;
      const view = await readResponse(await expectOk(url, postJson(url, {}, { ...this.http, timeoutMs })));
      if (leftS <= LONGEST_WAIT_S || !view.ok || isSettled(view.value)) return view;
    }
  }

  /** Removes the rows of attempts and leaves a fence. Gives the attempts that had any. */
  retire(attempts: readonly string[]): Promise<readonly string[]> {
    return this.remove('retire', attempts);
  }

  /** Removes rows and fence of attempts: the names are new again. */
  delete(attempts: readonly string[]): Promise<readonly string[]> {
    return this.remove('delete', attempts);
  }

  private async remove(how: 'retire' | 'delete', attempts: readonly string[]): Promise<readonly string[]> {
    const url = `${this.base}/ledger/${how}`;
    const response = await expectOk(url, postJson(url, { capture_keys: attempts }, this.http));
    return ((await response.json()) as { removed: string[] }).removed;
  }
}

/** Reads a ledger from a file or from its `http(s)://` address: `/ledger/<attempt>`, or the peers' manifest path. */
export async function readLedger(source: string, http: HttpOptions = {}): Promise<Checked<LedgerView>> {
  if (isUrl(source)) return readLedgerUrl(source, http);
  return readLedgerText(await readFile(source, 'utf8'));
}

/** Reads a ledger straight from a store of this process. A retired attempt has none: `ledger_malformed`. */
export async function readLedgerFromStore(
  ledger: Pick<Ledger, 'snapshot' | 'records'>,
  attempt: string,
  schemaVersion: 2 | 3,
): Promise<Checked<LedgerView>> {
  const snapshot = await ledger.snapshot(attempt);
  if (snapshot === 'retired')
    return refused(reason('ledger_malformed', `attempt ${attempt} is retired: its ledger is gone`));
  const records: string[] = [];
  while (records.length < snapshot.recordCount) {
    const page = await ledger.records(attempt, records.length, Math.min(PAGE, snapshot.recordCount - records.length));
    if (page.length === 0)
      throw new Error(`the store has ${records.length} of ${snapshot.recordCount} records of ${attempt}`);
    records.push(...page);
  }
  const ids = { attempted_call_ids: manifestedCalls(snapshot), pending_call_ids: snapshot.pendingCallIds };
  const failures = snapshot.failures.map(({ callId, reason: why }) => ({
    schema_version: schemaVersion,
    model_call_id: callId,
    reason: why,
  }));
  const owner = schemaVersion === 3 ? 'capture_key' : 'rollout_id';
  const parsed = records.map((text) => JSON.parse(text) as unknown);
  const manifest = {
    schema_version: schemaVersion,
    [owner]: attempt,
    records: parsed,
    failures,
    ...(schemaVersion === 3 ? ids : {}),
  };
  return readLedgerView({
    attempt,
    state: snapshot.state,
    complete: snapshot.state === 'closed' && snapshot.pendingCallIds.length === 0,
    manifest,
    ...(schemaVersion === 3 ? {} : ids),
    refused: snapshot.refused.map(({ callId, code }) => ({ model_call_id: callId, code })),
    why_root: Object.fromEntries(snapshot.whyRoot.map(({ callId, json }) => [callId, JSON.parse(json) as unknown])),
  });
}

/** Whether every call has a record or a failure row: a close waits for nothing else. */
function isSettled({ pendingCallIds, failures }: LedgerView): boolean {
  return pendingCallIds.every((callId) => failures.some((failure) => failure.model_call_id === callId));
}

const PAGE = 500;

/** Whether a source is an address rather than a file. */
export function isUrl(source: string): boolean {
  return /^https?:\/\//.test(source);
}

async function readLedgerUrl(url: string, http: HttpOptions): Promise<Checked<LedgerView>> {
  return readResponse(await expectOk(url, get(url, http)));
}

async function readResponse(response: Response): Promise<Checked<LedgerView>> {
  return readLedgerText(await response.text());
}

function readLedgerText(text: string): Checked<LedgerView> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return refused(reason('ledger_malformed', `the ledger is no JSON: ${error.message}`));
  }
  return readLedgerView(json);
}
