import type { RootExpectation, ScriptedCall, WhyExpectation } from './expectation.ts';

/** The generations of the protocol; every scenario is run with both. */
export type Schema = 2 | 3;

/** What a call must come to in the ledger: a continuation, a root, or (schema 2) an answer without a record and a failure row `unresolved_parent`. */
export type Fate =
  | { readonly kind: 'continues'; readonly parent: string }
  | { readonly kind: 'root'; readonly why: WhyExpectation }
  | { readonly kind: 'unresolved' };

/**
 * What each call must come to, by its id, from what the scenario wrote down. Under schema 3 it is that. Under schema 2 (protocol section 13) the proxy alone picks the
 * parent and the worker obeys, so a proposal always stands; a request without any turn of the model is a root; every other one without a parent is unresolved,
 * and so is what continues an unresolved call, which has no record. No scenario begins with a turn of the model, the one case in which such a call is a root.
 */
export function fatesOf(calls: readonly ScriptedCall[], schema: Schema): ReadonlyMap<string, Fate> {
  const fates = new Map<string, Fate>();
  const follows = (parent: string): Fate =>
    fates.get(parent)?.kind === 'unresolved' ? { kind: 'unresolved' } : { kind: 'continues', parent };
  for (const { id, expect } of calls) {
    if ('parent' in expect) fates.set(id, follows(expect.parent));
    else if (schema === 3) fates.set(id, { kind: 'root', why: expect.root });
    else if (expect.root.cause === 'rooted_by_worker') fates.set(id, follows(proposed(id, expect.root)));
    else if (beginsAnew(expect.root)) fates.set(id, { kind: 'root', why: expect.root.schema2 ?? expect.root });
    else fates.set(id, { kind: 'unresolved' });
  }
  return fates;
}

/** Whether the scenario says that the request of this call holds no turn of the model. */
export function isWithoutTurn({ expect }: ScriptedCall): boolean {
  return 'root' in expect && beginsAnew(expect.root);
}

function beginsAnew({ cause, beginsAnew: stated }: RootExpectation): boolean {
  return stated ?? cause === 'first_call';
}

function proposed(id: string, { nearest }: RootExpectation): string {
  if (nearest === undefined) throw new Error(`${id}: say in \`nearest\` which call was proposed`);
  return nearest;
}

/** Whether a request, in any dialect, holds a turn of the model. */
export function holdsTurn(body: string): boolean {
  const { messages, input } = JSON.parse(body) as { messages?: unknown; input?: unknown };
  const items = (Array.isArray(messages) ? messages : Array.isArray(input) ? input : []) as readonly Item[];
  return items.some(({ role, type = '' }) => role === 'assistant' || AUTHORED.has(type));
}

interface Item {
  readonly role?: string;
  readonly type?: string;
}

/** Items of a Responses input that the model wrote, beside its messages. */
const AUTHORED: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'local_shell_call', 'reasoning']);
