import { assistantFingerprint } from '../../lineage/fingerprints.ts';
import type { JsonNode } from '../../protocol/json/json-node.ts';
import type { CallRecord } from '../../protocol/wire/ledger.ts';
import type { LedgerView } from '../ledger-view.ts';
import type { Envelope, HarnessResult } from '../result.ts';
import { oneOfTwins } from '../twins.ts';

/** What the scored response says about which call it came from (protocol section 13). */
export type Attribution =
  | { readonly kind: 'agreed'; readonly record: CallRecord; readonly by: string }
  | { readonly kind: 'contradicted'; readonly message: string }
  | { readonly kind: 'none' };

interface Witness {
  readonly name: string;
  readonly record: CallRecord;
}

/**
 * Asks the witnesses: the scored response's id, and its content, that is the fingerprint of all that it authored or of its trailing authored
 * block. A witness that fits several calls says nothing, unless these are twins. Witnesses that name different calls attribute nothing.
 */
export function askWitnesses(ledger: LedgerView, result: HarnessResult): Attribution {
  const scored = result.response ?? result.responses?.at(-1);
  if (scored === undefined) return { kind: 'none' };
  const witnesses = [idWitness(ledger, scored), contentWitness(ledger, scored)].filter(
    (witness) => witness !== undefined,
  );
  const [first] = witnesses;
  if (first === undefined) return { kind: 'none' };
  if (oneOfTwins(witnesses.map(({ record }) => record)) === undefined) {
    const said = witnesses.map(({ name, record }) => `${name} names call ${record.model_call_id}`).join(', ');
    return { kind: 'contradicted', message: `witnesses of the scored response contradict each other: ${said}` };
  }
  return { kind: 'agreed', record: first.record, by: witnesses.map(({ name }) => name).join(' and ') };
}

function idWitness(ledger: LedgerView, { id, path }: Envelope): Witness | undefined {
  const record = id === null ? undefined : oneOfTwins(ledger.records.filter((call) => call.response_id === id));
  return record && { name: `the id of ${path}`, record };
}

function contentWitness(ledger: LedgerView, { output, path }: Envelope): Witness | undefined {
  const items = output.kind === 'items' ? output.items : (output.snapshots.at(-1) ?? []);
  const whole = assistantFingerprint(items);
  if (whole === null) return undefined;
  const tail = assistantFingerprint(trailingBlock(items));
  const record = oneOfTwins(
    ledger.records.filter(({ output_fingerprint: output, continuation_fingerprint: continuation }) => {
      return continuation === whole || output === whole || (tail !== null && output === tail);
    }),
  );
  return record && { name: `the content of ${path}`, record };
}

function trailingBlock(items: readonly JsonNode[]): readonly JsonNode[] {
  const isAuthored = (item: JsonNode) =>
    item.get('role')?.string() === 'assistant' || item.get('type')?.string() === 'function_call';
  return items.slice(items.findLastIndex((item) => !isAuthored(item)) + 1);
}
