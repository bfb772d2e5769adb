import type { JsonNode } from './json-node.ts';

/**
 * A function of a node that depends on nothing else, worked out once per node. Nodes that are taken over from an earlier text (parse-json.ts, `known`) keep what was
 * worked out for them; what is kept goes with its node.
 */
export function memoOf<T extends {}>(work: (node: JsonNode) => T): (node: JsonNode) => T {
  const known = new WeakMap<JsonNode, T>();
  return (node) => {
    let value = known.get(node);
    if (value === undefined) {
      value = work(node);
      known.set(node, value);
    }
    return value;
  };
}
