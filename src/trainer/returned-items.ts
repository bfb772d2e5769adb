import type { JsonNode } from '../protocol/json/json-node.ts';
import { type AuthoredItem, authoredItems, itemKind } from './authored-items.ts';
import { type Checked, ok, reason, refused } from './reasons.ts';
import type { Envelope } from './result.ts';

/** What one envelope returns: the authored items, in order, and the id that pins the call that ends there. */
export interface ReturnedPart {
  readonly path: string;
  readonly id: string | null;
  readonly items: readonly AuthoredItem[];
  /** Turns that the model said nothing in: they have no items, and a record of one has none, too. */
  readonly silentTurns: readonly SilentTurn[];
}

/** A returned turn without an item of its own. */
export interface SilentTurn {
  /** How many authored items stand before it. */
  readonly at: number;
  readonly itemIndex: number;
  readonly path: string;
}

type ReadItems = Pick<ReturnedPart, 'items' | 'silentTurns'>;

/** The authored items of returned responses, with snapshots united (protocol section 11). Refused with the item and why. */
export function returnedParts(envelopes: readonly Envelope[]): Checked<readonly ReturnedPart[]> {
  const parts: ReturnedPart[] = [];
  let firstIndex = 0;
  for (const envelope of envelopes) {
    const { path, output } = envelope;
    const items =
      output.kind === 'items'
        ? readItems(output.items, firstIndex, `${path}.output`)
        : uniteSnapshots(output.snapshots, firstIndex, `${path}.output`);
    if (!items.ok) return items;
    firstIndex +=
      output.kind === 'items' ? output.items.length : output.snapshots.reduce((sum, list) => sum + list.length, 0);
    parts.push({ path, id: envelope.id, ...items.value });
  }
  return ok(parts);
}

function readItems(items: readonly JsonNode[], firstIndex: number, path: string): Checked<ReadItems> {
  const authored: AuthoredItem[] = [];
  const silentTurns: SilentTurn[] = [];
  for (const [at, item] of items.entries()) {
    const place = { itemIndex: firstIndex + at, path: `${path}[${at}]` };
    const found = authoredItems(item, place.itemIndex, place.path);
    if (!found.ok) return found;
    if (found.value.length === 0 && itemKind(item).kind === 'authored')
      silentTurns.push({ at: authored.length, ...place });
    authored.push(...found.value);
  }
  return ok({ items: authored, silentTurns });
}

/**
 * One list from snapshots that overlap: each authored item once, by its id, in the order in which they first appear. The same id with other
 * content is a contradiction; an item without id cannot be united.
 */
function uniteSnapshots(
  snapshots: readonly (readonly JsonNode[])[],
  firstIndex: number,
  path: string,
): Checked<ReadItems> {
  const united = new Map<string, AuthoredItem>();
  let index = firstIndex;
  for (const [at, snapshot] of snapshots.entries()) {
    const found = readItems(snapshot, index, `${path}[${at}]`);
    if (!found.ok) return found;
    index += snapshot.length;
    const inThisOne = new Set<string>();
    for (const item of found.value.items) {
      const { itemIndex } = item;
      const id = item.ids[0];
      if (id === undefined) {
        return refused(
          reason('item_without_id', `${item.path} (${item.type}) has no id, so that snapshots cannot be united`, {
            itemIndex,
          }),
        );
      }
      if (inThisOne.has(id))
        return refused(
          reason('call_reused', `${item.path} has the id ${id} of another item of its snapshot`, { itemIndex }),
        );
      inThisOne.add(id);
      const known = united.get(id);
      if (known !== undefined && known.fingerprint !== item.fingerprint) {
        const message = `${item.path} and ${known.path} have the same id ${id} and different content`;
        return refused(reason('item_contradicts_id', message, { itemIndex }));
      }
      if (known === undefined) united.set(id, item);
    }
  }
  // Where a turn without an id stands, snapshots do not say.
  return ok({ items: [...united.values()], silentTurns: [] });
}
