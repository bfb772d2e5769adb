/** What a drawing needs of a ledger, as it is served (protocol section 7). */
export interface LedgerJson {
  readonly attempt: string;
  readonly state: string;
  readonly complete: boolean;
  readonly manifest: {
    readonly records: readonly DrawnRecord[];
    readonly failures: readonly { readonly model_call_id: string; readonly reason: string }[];
    readonly attempted_call_ids?: readonly string[];
    readonly pending_call_ids?: readonly string[];
  };
  readonly pending_call_ids?: readonly string[];
  readonly refused: readonly { readonly model_call_id: string; readonly code: string }[];
  readonly why_root: Readonly<Record<string, { readonly cause: string; readonly explanation?: unknown }>>;
}

interface DrawnRecord {
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly prev_len: number;
  readonly delta_len: number;
  readonly cum_len: number;
  readonly weight_version: number;
  readonly response_status?: string | null;
  readonly finish_reason?: string | null;
}

/** One line: state and counts. */
export function ledgerVerdict(ledger: LedgerJson): string {
  const pending = pendingOf(ledger);
  return `${ledger.manifest.records.length} records, ${pending.length} pending, ${ledger.manifest.failures.length} failures${
    ledger.refused.length === 0 ? '' : `, ${ledger.refused.length} refused`
  }`;
}

/** The call forest of an attempt as lines for a terminal: roots with their cause, continuations under their parents, then what is pending, failed or refused. */
export function drawForest(ledger: LedgerJson, name: (callId: string) => string = (callId) => callId): string[] {
  const children = new Map<string | null, DrawnRecord[]>();
  for (const record of ledger.manifest.records) {
    const siblings = children.get(record.parent_call_id) ?? [];
    children.set(record.parent_call_id, siblings);
    siblings.push(record);
  }
  const failures = new Map<string, string[]>();
  for (const { model_call_id, reason } of ledger.manifest.failures) {
    failures.set(model_call_id, [...(failures.get(model_call_id) ?? []), reason]);
  }
  const lines = [`${ledger.attempt}  ${ledger.state}${ledger.complete ? ', complete' : ''}  ${ledgerVerdict(ledger)}`];
  // A stack, not recursion: a chain may be thousands of calls long.
  const stack = (children.get(null) ?? []).map((record) => ({ record, lead: '', branch: '' })).reverse();
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { record, lead, branch } = entry;
    const failed = failures.get(record.model_call_id);
    lines.push(
      `${lead}${branch}${describe(record, name, ledger)}${failed === undefined ? '' : `  FAILED: ${failed.join(', ')}`}`,
    );
    const next = children.get(record.model_call_id) ?? [];
    // A chain goes straight down; only siblings are indented.
    const inner = lead + (branch === '' ? '' : branch.startsWith('├') ? '│ ' : '  ');
    const entries = next.map((child, at) => ({
      record: child,
      lead: next.length === 1 ? lead + (branch.startsWith('├') ? '│ ' : branch === '' ? '' : '  ') : inner,
      branch: next.length === 1 ? '' : at === next.length - 1 ? '└─' : '├─',
    }));
    stack.push(...entries.reverse());
  }
  const recorded = new Set(ledger.manifest.records.map((record) => record.model_call_id));
  for (const callId of pendingOf(ledger)) {
    lines.push(
      `? ${name(callId)}  pending${failures.has(callId) ? `  FAILED: ${failures.get(callId)?.join(', ')}` : ''}`,
    );
  }
  for (const [callId, reasons] of failures) {
    if (!recorded.has(callId) && !pendingOf(ledger).includes(callId))
      lines.push(`! ${name(callId)}  FAILED: ${reasons.join(', ')}`);
  }
  for (const { model_call_id, code } of ledger.refused) lines.push(`- ${name(model_call_id)}  refused: ${code}`);
  return lines;
}

export function pendingOf(ledger: LedgerJson): readonly string[] {
  return ledger.manifest.pending_call_ids ?? ledger.pending_call_ids ?? [];
}

function describe(record: DrawnRecord, name: (callId: string) => string, ledger: LedgerJson): string {
  const lengths = `prev ${record.prev_len}  delta ${record.delta_len}  cum ${record.cum_len}`;
  const status =
    record.response_status === undefined || record.response_status === 'completed'
      ? ''
      : `  ${record.response_status ?? 'unknown status'}${record.finish_reason ? ` (${record.finish_reason})` : ''}`;
  const head =
    record.parent_call_id === null
      ? `● ${name(record.model_call_id)}  root`
      : `│ ${name(record.model_call_id)}  ← ${name(record.parent_call_id)}`;
  const why = record.parent_call_id === null ? whyText(ledger, record.model_call_id, name) : '';
  return `${head}  ${lengths}  weights ${record.weight_version}${status}${why}`;
}

function whyText(ledger: LedgerJson, callId: string, name: (callId: string) => string): string {
  const why = ledger.why_root[callId];
  if (why === undefined) return '';
  const explanation = typeof why.explanation === 'string' ? `: ${why.explanation.replace(/[0-9a-f]{32}/g, name)}` : '';
  return `  ${why.cause}${explanation}`;
}
