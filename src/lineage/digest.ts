import { hash } from 'node:crypto';

/** Domain of every digest of section 3. */
export const REPLAY_DOMAIN = 'nemo-gym-replay-v1\0';

/** A code unit that Latin-1 does not have. */
const WIDE = /[\u0100-\uffff]/;

/** SHA-256 as 64 lowercase hex digits. A string is hashed as UTF-8. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data);
}

/** Digest of a value by its canonical JSON (protocol section 3), which must be well-formed Unicode. */
export function replayDigest(canonical: string): string {
  return hash('sha256', REPLAY_DOMAIN + canonical);
}

/**
 * Digest of a form of our own that nobody else recomputes (protocol section 3: how an item is normalized is ours). Two strings have the same
 * digest iff they have the same code units, so lone surrogates count as themselves. Text outside Latin-1 is hashed as UTF-16, which costs half
 * of what turning it into UTF-8 costs.
 */
export function formDigest(form: string): string {
  if (!WIDE.test(form)) return hash('sha256', `${REPLAY_DOMAIN}n${form}`);
  const bytes = Buffer.allocUnsafe(WIDE_DOMAIN.length + 2 * form.length);
  WIDE_DOMAIN.copy(bytes);
  bytes.write(form, WIDE_DOMAIN.length, 'utf16le');
  return hash('sha256', bytes);
}

const WIDE_DOMAIN = Buffer.from(`${REPLAY_DOMAIN}w`, 'latin1');
