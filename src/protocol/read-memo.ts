import { isRefusal, type RequestRefusal } from './conversation.ts';
import { Memo } from './json/memo.ts';

/** What nodes were read as. A refusal is not kept: it says where the node stands. */
export function readMemo<V extends object>(): Memo<V | RequestRefusal> {
  return new Memo((value) => !isRefusal(value));
}
