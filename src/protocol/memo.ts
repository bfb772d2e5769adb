import { isRefusal, type RequestRefusal } from './conversation.ts';
import type { JsonNode } from './json/json-node.ts';

/**
 * Parts of a history that did not change are the same nodes as in the request before (parse-json.ts, `known`): what follows from them alone need not be made
 * again, and is then the same object, from which the next step saves its work in turn. Nothing that is kept here may be changed, and all of it goes with its node.
 */

/** What a node was read as. A refusal is not kept: it says where the node stands. */
export function readOnce<V extends object>(
  known: WeakMap<JsonNode, V>,
  node: JsonNode,
  read: () => V | RequestRefusal,
): V | RequestRefusal {
  const before = known.get(node);
  if (before !== undefined) return before;
  const value = read();
  if (!isRefusal(value)) known.set(node, value as V);
  return value;
}

/** What lists of objects came to. One list is kept for each first element. */
export class ListMemo<K extends object, V> {
  readonly #known = new WeakMap<K, { readonly list: readonly K[]; readonly value: V }>();

  /** The value that was made of these very objects in this order, else that of `make`. */
  of(list: readonly K[], make: () => V): V {
    const first = list[0];
    if (first === undefined) return make();
    const known = this.#known.get(first);
    if (known !== undefined && known.list.length === list.length && known.list.every((one, at) => one === list[at]))
      return known.value;
    const value = make();
    this.#known.set(first, { list: [...list], value });
    return value;
  }
}

/** A value for each object, made when it is first asked for. */
export function madeOnce<K extends object, V extends object>(known: WeakMap<K, V>, key: K, make: () => V): V {
  let value = known.get(key);
  if (value === undefined) {
    value = make();
    known.set(key, value);
  }
  return value;
}
