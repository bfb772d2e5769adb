import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { CallRecord } from '../../protocol/wire/ledger.ts';
import { type Checked, ok, reason, refused } from '../reasons.ts';
import { recordOfResponse, type Selection, type SelectionPolicy } from './selection.ts';

/**
 * A custom policy: gets copies of the records in commit order and the result as plain JSON; gives the selected records, each once and unchanged, in
 * the order of the history, and the response id of the scored call. As an object or as a pair; may be asynchronous.
 */
export type CustomPolicy = (records: CallRecord[], result: unknown) => unknown;

/** Wraps a function as a policy that checks what it returns. An exception of the function is `policy_invalid`. */
export function customPolicy(name: string, select: CustomPolicy): SelectionPolicy {
  return {
    name,
    async select(ledger, result) {
      let returned: unknown;
      try {
        returned = await select(structuredClone([...ledger.records]), result.json.value());
      } catch (error) {
        return invalid(name, `it threw ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`);
      }
      return readReturned(name, ledger.records, returned);
    },
  };
}

/** Finds `module:function`: a module by path (from the working directory) or package name. Throws with a sentence where there is none. */
export async function loadCustomPolicy(spec: string, directory: string): Promise<SelectionPolicy> {
  const colon = spec.lastIndexOf(':');
  const [specifier, name] = [spec.slice(0, colon), spec.slice(colon + 1)];
  if (colon <= 0 || name === '') throw new Error(`the policy ${spec} is not of the form module:function`);
  const isPath = /^(\.{0,2}[/\\]|[A-Za-z]:[/\\])/.test(specifier) || /\.[cm]?[jt]s$/.test(specifier);
  const url = isPath ? pathToFileURL(resolve(directory, specifier)).href : specifier;
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(url)) as Record<string, unknown>;
  } catch (error) {
    throw new Error(
      `the policy module ${specifier} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  const select = loaded[name];
  if (typeof select !== 'function') {
    const functions = Object.keys(loaded).filter((key) => typeof loaded[key] === 'function');
    const known = functions.length === 0 ? 'it exports no function' : `its functions are ${functions.join(', ')}`;
    throw new Error(`the policy module ${specifier} exports no function ${name}: ${known}`);
  }
  return customPolicy(spec, select as CustomPolicy);
}

function readReturned(name: string, records: readonly CallRecord[], returned: unknown): Checked<Selection> {
  const [selected, terminal] = Array.isArray(returned) ? returned : fieldsOf(returned);
  if (!Array.isArray(selected)) return invalid(name, 'it returned no list of selected records');
  if (typeof terminal !== 'string' || terminal === '') return invalid(name, 'it returned no terminal response id');
  const byId = new Map(records.map((record) => [record.model_call_id, record]));
  const calls = new Set<CallRecord>();
  for (const [at, record] of (selected as readonly unknown[]).entries()) {
    const callId =
      typeof record === 'object' && record !== null && 'model_call_id' in record ? record.model_call_id : undefined;
    const original = typeof callId === 'string' ? byId.get(callId) : undefined;
    if (original === undefined) return invalid(name, `selected[${at}] is no record of this ledger`);
    if (!isDeepStrictEqual(record, original)) return invalid(name, `selected[${at}] (call ${callId}) was changed`);
    if (calls.has(original)) return invalid(name, `call ${callId} was selected twice`);
    calls.add(original);
  }
  const scored = recordOfResponse(records, terminal, `the terminal response id of policy ${name}`);
  if (!scored.ok) return scored;
  if (!calls.has(scored.value)) {
    const callId = scored.value.model_call_id;
    return refused(
      reason('scored_call_not_selected', `policy ${name} did not select the scored call ${callId}`, { callId }),
    );
  }
  return ok({ policy: name, calls: [...calls], scored: scored.value, scoredBy: 'the policy says so', matches: [] });
}

function fieldsOf(returned: unknown): [unknown, unknown] {
  if (typeof returned !== 'object' || returned === null) return [undefined, undefined];
  const fields = returned as Record<string, unknown>;
  return [fields.selected, fields.terminalResponseId ?? fields.terminal_response_id];
}

function invalid(name: string, why: string) {
  return refused(reason('policy_invalid', `policy ${name}: ${why}`));
}
