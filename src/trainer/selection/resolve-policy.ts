import type { LedgerView } from '../ledger-view.ts';
import { allCaptured } from './all-captured.ts';
import { loadCustomPolicy } from './custom.ts';
import { declared } from './declared.ts';
import { returnedHistory } from './returned-history.ts';
import type { SelectionPolicy } from './selection.ts';

const BUILT_IN: Readonly<Record<string, SelectionPolicy>> = {
  [returnedHistory.name]: returnedHistory,
  [allCaptured.name]: allCaptured,
  [declared.name]: declared,
};

/** The policy where none is named: `returned_history`, and `declared` for schema 2, whose records it cannot use. */
export const defaultPolicy: SelectionPolicy = {
  name: 'default',
  select: (ledger: LedgerView, result) =>
    (ledger.schemaVersion === 3 ? returnedHistory : declared).select(ledger, result),
};

/** A policy by its name or as `module:function`, found and checked before anything runs. Throws with a sentence where there is none. */
export async function resolvePolicy(spec: string | undefined, directory: string): Promise<SelectionPolicy> {
  if (spec === undefined) return defaultPolicy;
  const builtIn = BUILT_IN[spec];
  if (builtIn !== undefined) return builtIn;
  if (!spec.includes(':')) {
    throw new Error(`unknown policy ${spec}: give one of ${Object.keys(BUILT_IN).join(', ')}, or module:function`);
  }
  return loadCustomPolicy(spec, directory);
}
