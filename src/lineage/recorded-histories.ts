import { sameItem } from './compare-items.ts';
import { type ItemSketch, parseSketch, type RecordSketch, type StoredSketch } from './sketch.ts';

/** A record's history, told apart from its parent's. */
interface Entry {
  readonly callId: string;
  readonly parent: Entry | null;
  readonly renderDigest: string;
  readonly sketch: RecordSketch;
  /** Items of the whole history, served turn included. */
  readonly itemCount: number;
  /** How many of its first items the request repeats. */
  readonly common: number;
}

/** One record as compared with a request. */
export interface RecordedHistory {
  readonly callId: string;
  readonly renderDigest: string;
  readonly render: Readonly<Record<string, string>>;
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

  get size(): number {
    return this.entries.size;
  }

  /** The record with the longest common prefix; the one committed last wins ties. */
  nearest(): RecordedHistory | null {
    let nearest: Entry | null = null;
    for (const entry of this.entries.values()) if (nearest === null || entry.common >= nearest.common) nearest = entry;
    return nearest === null ? null : historyOf(nearest);
  }

  /** Records whose whole history is the first `itemCount` items of the request, in commit order. */
  matching(itemCount: number): RecordedHistory[] {
    const entries = [...this.entries.values()];
    return entries.filter((entry) => entry.itemCount === itemCount && entry.common === itemCount).map(historyOf);
  }

  get(callId: string): RecordedHistory | null {
    const entry = this.entries.get(callId);
    return entry === undefined ? null : historyOf(entry);
  }

  private add(record: StoredSketch): void {
    const parent = record.parentCallId === null ? null : this.entries.get(record.parentCallId);
    if (parent === undefined) return;
    const sketch = parseSketch(record.sketchJson);
    const start = parent?.itemCount ?? 0;
    this.entries.set(record.callId, {
      callId: record.callId,
      parent,
      renderDigest: record.renderDigest,
      sketch,
      itemCount: start + sketch.items.length,
      common: parent !== null && parent.common < start ? parent.common : this.commonFrom(start, sketch.items),
    });
  }

  private commonFrom(start: number, items: readonly ItemSketch[]): number {
    let at = 0;
    for (; at < items.length; at++) {
      const asked = this.request[start + at];
      if (asked === undefined || !sameItem(items[at] as ItemSketch, asked)) break;
    }
    return start + at;
  }
}

function historyOf(entry: Entry): RecordedHistory {
  const chain: Entry[] = [];
  for (let at: Entry | null = entry; at !== null; at = at.parent) chain.unshift(at);
  return {
    callId: entry.callId,
    renderDigest: entry.renderDigest,
    render: entry.sketch.render,
    items: chain.flatMap((link) => link.sketch.items),
    common: entry.common,
    servedBy: (index) => chain.find((link) => link.itemCount - 1 === index)?.callId ?? null,
  };
}
