import type { CallSketch, ItemSketch, PartSketch, TextSketch } from './sketch.ts';

/** Which part of an item differs. */
export type DifferingPart =
  | 'text'
  | 'media'
  | 'refusal'
  | 'calls'
  | 'call_id'
  | 'name'
  | 'arguments'
  | 'reasoning'
  | 'order';

export interface PartDifference {
  readonly part: DifferingPart;
  /** Lengths of what differs in UTF-16 code units, or numbers of calls for `calls`. */
  readonly lengths: Lengths;
  /** Place of the tool call among those of the turn. */
  readonly call_index?: number;
  /** Top-level arguments that differ, as far as they can be named. */
  readonly arguments?: readonly string[];
}

export interface Lengths {
  readonly record: number;
  readonly request: number;
}

/**
 * Whether two items are the same turn for the search: by digest, where content null and "" beside calls count as equal; and a reasoning that both
 * sides carry must be the same (`lineage.reasoning: optional` leaves it out of the digest).
 */
export function sameItem(record: ItemSketch, request: ItemSketch): boolean {
  if (record.d !== request.d || record.role !== request.role) return false;
  const { reasoning } = record;
  return reasoning === undefined || request.reasoning === undefined || reasoning.d === request.reasoning.d;
}

/** Everything that differs between two items of one role, what weighs most first. Never empty for items that are not the same. */
export function differences(record: ItemSketch, request: ItemSketch): PartDifference[] {
  return [
    ...partDifferences(record.parts ?? [], request.parts ?? []),
    ...textDifference('refusal', record.refusal, request.refusal),
    ...callDifferences(record.calls ?? [], request.calls ?? []),
    ...textDifference('call_id', record.answers, request.answers),
    ...textDifference('name', record.name, request.name),
    ...textDifference('reasoning', record.reasoning, request.reasoning),
  ];
}

function textDifference(part: DifferingPart, record: TextSketch | undefined, request: TextSketch | undefined) {
  return record?.d === request?.d ? [] : [{ part, lengths: { record: record?.n ?? 0, request: request?.n ?? 0 } }];
}

function partDifferences(record: readonly PartSketch[], request: readonly PartSketch[]): PartDifference[] {
  if (sameDigests(record, request)) return [];
  if (sameDigests(sorted(record), sorted(request))) return [{ part: 'order', lengths: lengthsOf(record, request) }];
  const found: PartDifference[] = [];
  for (const kind of ['text', 'media'] as const) {
    const ours = record.filter((part) => part.kind === kind);
    const theirs = request.filter((part) => part.kind === kind);
    if (!sameDigests(ours, theirs)) found.push({ part: kind, lengths: lengthsOf(ours, theirs) });
  }
  return found.length > 0 ? found : [{ part: 'order', lengths: lengthsOf(record, request) }];
}

function callDifferences(record: readonly CallSketch[], request: readonly CallSketch[]): PartDifference[] {
  if (record.length !== request.length)
    return [{ part: 'calls', lengths: { record: record.length, request: request.length } }];
  const recordDigests = record.map(callDigest);
  const requestDigests = request.map(callDigest);
  const at = recordDigests.findIndex((digest, index) => digest !== requestDigests[index]);
  if (at < 0) return [];
  if ([...recordDigests].sort().join() === [...requestDigests].sort().join())
    return [{ part: 'order', call_index: at, lengths: { record: record.length, request: request.length } }];
  return callPartDifferences(record[at] as CallSketch, request[at] as CallSketch, at);
}

function callPartDifferences(record: CallSketch, request: CallSketch, at: number): PartDifference[] {
  const found: PartDifference[] = [
    ...textDifference('name', record.name, request.name),
    ...textDifference('arguments', record.arguments, request.arguments),
    ...textDifference('call_id', record.id, request.id),
  ];
  const names = differingNames(record.values ?? {}, request.values ?? {});
  return found.map((difference) => ({
    ...difference,
    call_index: at,
    ...(difference.part === 'arguments' && names.length > 0 ? { arguments: names } : {}),
  }));
}

/** Keys whose digests differ, or that only one side has, in order. */
export function differingNames(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => a[key] !== b[key]).sort();
}

function callDigest(call: CallSketch): string {
  return `${call.id.d} ${call.name.d} ${call.arguments.d}`;
}

function sameDigests(a: readonly PartSketch[], b: readonly PartSketch[]): boolean {
  return a.length === b.length && a.every((part, at) => part.kind === b[at]?.kind && part.d === b[at].d);
}

function sorted(parts: readonly PartSketch[]): PartSketch[] {
  return [...parts].sort((a, b) => (a.kind + a.d < b.kind + b.d ? -1 : 1));
}

function lengthsOf(record: readonly TextSketch[], request: readonly TextSketch[]): Lengths {
  const sum = (parts: readonly TextSketch[]) => parts.reduce((total, part) => total + part.n, 0);
  return { record: sum(record), request: sum(request) };
}

/**
 * How many output items of a served turn an echo holds, if it holds only the first of them: the reasoning, the text, then each call is one item.
 * Null where the echo is something else.
 */
export function partialEcho(served: ItemSketch, echo: ItemSketch): { echoed: number; served: number } | null {
  const all = outputDigests(served);
  const some = outputDigests(echo);
  if (some.length >= all.length || some.some((digest, at) => digest !== all[at])) return null;
  return { echoed: some.length, served: all.length };
}

function outputDigests(turn: ItemSketch): string[] {
  return [
    ...(turn.reasoning === undefined ? [] : [`r${turn.reasoning.d}`]),
    ...(turn.parts === undefined ? [] : [`p${turn.parts.map((part) => part.d).join()}`]),
    ...(turn.refusal === undefined ? [] : [`f${turn.refusal.d}`]),
    ...(turn.calls ?? []).map(callDigest),
  ];
}
