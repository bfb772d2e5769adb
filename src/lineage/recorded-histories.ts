import { sameItem } from './compare-items.ts';
import { type ItemSketch, parseSketch, type RecordSketch, type StoredSketch } from './sketch.ts';

/** How far a request repeats a record. Most records are left before their own items, so that their sketches need not be read. */
interface Entry {
  readonly record: StoredSketch;
  readonly parent: Entry | null;
  /** Null while nobody had to read it. */
  sketch: RecordSketch | null;
  /** How many of the first items of the record's history the request repeats. */
  readonly common: number;
  /** The request repeats all of them. */
  readonly whole: boolean;
}

/** One record as compared with a request. */
export interface RecordedHistory {
  readonly callId: string;
  readonly renderDigest: string;
  /** Short digests of its render keys. */
  readonly render: Readonly<Record<string, string>>;
  /** Its items, those of its ancestors first, the served turn last. */
  readonly items: readonly ItemSketch[];
  /** How many of its first items the request repeats. */
  readonly common: number;
  /** The call whose served turn is the item at this place, or null where a request brought it. */
  servedBy(index: number): string | null;
}

/** Compares a request with the records that it could see, in one pass over what each record added. */
export class RecordedHistories {
  private readonly entries = new Map<string, Entry>();
  private readonly request: readonly ItemSketch[];

  /** `records` in commit order. Records whose parent is not among them are left out. */
  constructor(records: readonly StoredSketch[], request: readonly ItemSketch[]) {
    this.request = request;
    for (const record of records) this.add(record);
  }

  /** The record with the longest common prefix; the one committed last wins ties. */
  nearest(): RecordedHistory | null {
    let nearest: Entry | null = null;
    for (const entry of this.entries.values()) if (nearest === null || entry.common >= nearest.common) nearest = entry;
    return nearest === null ? null : historyOf(nearest);
  }

  /** Records whose whole history is the first `itemCount` items of the request, in commit order. */
  matching(itemCount: number): RecordedHistory[] {
    return [...this.entries.values()].filter((entry) => entry.whole && entry.common === itemCount).map(historyOf);
  }

  get(callId: string): RecordedHistory | null {
    const entry = this.entries.get(callId);
    return entry === undefined ? null : historyOf(entry);
  }

  private add(record: StoredSketch): void {
    const parent = record.parentCallId === null ? null : this.entries.get(record.parentCallId);
    if (parent === undefined) return;
    if (parent !== null && !parent.whole) {
      this.entries.set(record.callId, { record, parent, sketch: null, common: parent.common, whole: false });
      return;
    }
    const sketch = parseSketch(record.sketchJson);
    this.entries.set(record.callId, { record, parent, sketch, ...this.compare(parent?.common ?? 0, sketch.items) });
  }

  private compare(start: number, items: readonly ItemSketch[]): { common: number; whole: boolean } {
    let at = 0;
    for (; at < items.length; at++) {
      const asked = this.request[start + at];
      if (asked === undefined || !sameItem(items[at] as ItemSketch, asked)) break;
    }
    return { common: start + at, whole: at === items.length };
  }
}

function historyOf(entry: Entry): RecordedHistory {
  const chain: Entry[] = [];
  for (let at: Entry | null = entry; at !== null; at = at.parent) chain.push(at);
  const items: ItemSketch[] = [];
  const servedBy = new Map<number, string>();
  for (const link of chain.reverse()) {
    items.push(...sketchOfEntry(link).items);
    servedBy.set(items.length - 1, link.record.callId);
  }
  return {
    callId: entry.record.callId,
    renderDigest: entry.record.renderDigest,
    render: sketchOfEntry(entry).render,
    items,
    common: entry.common,
    servedBy: (index) => servedBy.get(index) ?? null,
  };
}

function sketchOfEntry(entry: Entry): RecordSketch {
  entry.sketch ??= parseSketch(entry.record.sketchJson);
  return entry.sketch;
}
