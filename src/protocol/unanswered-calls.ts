/** Calls without an output yet, by id: an id may stand for more than one. */
export class UnansweredCalls {
  private counts: Map<string, number> | null = null;

  get any(): boolean {
    return this.counts !== null && this.counts.size > 0;
  }

  called(id: string): void {
    this.counts ??= new Map();
    this.counts.set(id, (this.counts.get(id) ?? 0) + 1);
  }

  /** Whether a call of this id waited for the output. */
  answered(id: string): boolean {
    const waiting = this.counts?.get(id) ?? 0;
    if (waiting > 1) this.counts?.set(id, waiting - 1);
    else this.counts?.delete(id);
    return waiting > 0;
  }
}
