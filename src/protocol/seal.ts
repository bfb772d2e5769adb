import { createHash } from 'node:crypto';

/**
 * Reasoning that a client echoes only as `encrypted_content` or `signature` is wrapped, not encrypted: the text with a checksum, in a form that
 * every replica can unwrap without a key. It is no secret: the same text is served beside it.
 */

const PREFIX = 'gmpr1_';
const CHECKSUM_LENGTH = 22;
const DOMAIN = 'gym-model-proxy reasoning 1\0';
const SEALED = /^gmpr1_[A-Za-z0-9_-]{22,}$/;

/** Wraps any JavaScript string without loss (lone surrogates included). The same text always gives the same value. */
export function sealReasoning(text: string): string {
  const payload = Buffer.from(JSON.stringify(text)).toString('base64url');
  return `${PREFIX}${checksum(payload)}${payload}`;
}

/** The text of a value made by {@link sealReasoning}; null for anything else, also for one that was cut or altered. */
export function unsealReasoning(sealed: string): string | null {
  if (!SEALED.test(sealed)) return null;
  const payload = sealed.slice(PREFIX.length + CHECKSUM_LENGTH);
  if (checksum(payload) !== sealed.slice(PREFIX.length, PREFIX.length + CHECKSUM_LENGTH)) return null;
  return jsonText(Buffer.from(payload, 'base64url').toString('utf8'));
}

/** Anybody can compute the checksum, so what it covers may still be something else than a string. */
function jsonText(json: string): string | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

function checksum(payload: string): string {
  return createHash('sha256').update(DOMAIN).update(payload).digest('base64url').slice(0, CHECKSUM_LENGTH);
}
