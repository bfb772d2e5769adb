import { hash } from 'node:crypto';

/** Prefixes of the ids that this proxy makes (C95). Ids of the engine are never replaced by one. */
export type IdPrefix = 'msg' | 'rs' | 'fc' | 'ctc' | 'tsc' | 'call' | 'toolu' | 'resp' | 'chatcmpl';

const ID_LENGTH = 32;

/**
 * An id such as `msg_0123…`: the prefix and 32 of [0-9a-f]. The same call, prefix and index always give the same id, so a reply that is
 * rendered again (a re-send, another replica) is the same to the byte; different ones differ.
 */
export function madeId(prefix: IdPrefix, callId: string, index = 0): string {
  return `${prefix}_${hash('sha256', `${prefix}\0${index}\0${callId}`).slice(0, ID_LENGTH)}`;
}
