/** Up to this length what came last is a string. */
const SHORT_TAIL = 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Text that grows at its end, of code units up to 0xff. What came long ago lies in bytes: a string that was put together from many pieces keeps them all, and is
 * walked through piece by piece whenever it is written or hashed.
 */
export class GrowingText {
  /** The beginning, a byte for each code unit. */
  head: Buffer = NOTHING;
  /** What follows it. */
  tail: string;

  constructor(text = '') {
    this.tail = text;
  }

  append(text: string): void {
    this.tail += text;
    if (this.tail.length <= SHORT_TAIL) return;
    // Not from the pool: the rest of its piece would be kept, too.
    const head = Buffer.allocUnsafeSlow(this.head.length + this.tail.length);
    head.set(this.head);
    head.write(this.tail, this.head.length, 'latin1');
    this.head = head;
    this.tail = '';
  }

  get isEmpty(): boolean {
    return this.head.length === 0 && this.tail === '';
  }

  /** An independent one with the same text so far. */
  fork(): GrowingText {
    const copy = new GrowingText(this.tail);
    copy.head = this.head;
    return copy;
  }
}
