/** What settles an ambiguity between committed calls that a request extends. */
export interface Match {
  /** Position in commit order. */
  readonly number: number;
  readonly cumLen: number;
  readonly cumulativeHash: string;
  /** Non-null ids of its output items. */
  readonly outputIds: readonly string[];
}

/**
 * Protocol section 3, "The rule", once the summaries have been compared: of several matches keep those whose output ids all (at least one) stand in the
 * assistant turn before the boundary, if there are such; of twins (the same tokens) keep the one committed last. What is left is the answer if it is one.
 * redis/lua/admit.lua says the same in Lua.
 */
export function settleMatches<T extends Match>(matches: readonly T[], echoedIds: readonly string[]): T[] {
  if (matches.length < 2) return [...matches];
  const echoed = new Set(echoedIds);
  const named = matches.filter(({ outputIds }) => outputIds.length > 0 && outputIds.every((id) => echoed.has(id)));
  const twins = new Map<string, T>();
  for (const match of named.length > 0 ? named : matches) {
    const tokens = `${match.cumLen} ${match.cumulativeHash}`;
    const other = twins.get(tokens);
    if (!other || match.number > other.number) twins.set(tokens, match);
  }
  return [...twins.values()];
}

/**
 * `lineage.reasoning: optional`: every reasoning that the request carries equals what that assistant turn was served, or first sent, with.
 * Both lists have one entry per assistant item of the prefix.
 */
export function reasoningAgrees(carried: readonly (string | null)[], stored: readonly (string | null)[]): boolean {
  return carried.every((digest, index) => digest === null || digest === stored[index]);
}
