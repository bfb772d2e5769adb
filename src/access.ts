import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type ServiceError, serviceError } from './errors.ts';

/** Who may do what (design, "Trust"): the control token is for trainer and operators, agent keys are for one attempt each; neither is valid on the other side. */

const KEY_VERSION = 'gmp1';

/** Makes the agent key of an attempt: an HMAC that the trainer's side can mint without a call. `gmp1.<64 hex>.<attempt>`. */
export function mintAgentKey(secret: string, attempt: string): string {
  return `${KEY_VERSION}.${createHmac('sha256', secret).update(`${KEY_VERSION}\n${attempt}`).digest('hex')}.${attempt}`;
}

/** Compares secrets in constant time, whatever their lengths. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Keys that a request carries: `Authorization: Bearer` and `x-api-key`. */
function keysOf(headers: IncomingHttpHeaders): string[] {
  const bearer = /^Bearer\s+(.+)$/i.exec(headers.authorization ?? '')?.[1]?.trim();
  const apiKey = headers['x-api-key'];
  return [bearer, typeof apiKey === 'string' ? apiKey.trim() : undefined].filter(
    (key) => key !== undefined && key !== '',
  ) as string[];
}

/** Whether the control token stands in any header or in the query, in whatever form a client sends keys (`Bearer x`, `Basic ...`, `x`, `key=x; ...`, `?key=x`). */
function carriesControlToken(headers: IncomingHttpHeaders, url: string, controlToken: string): boolean {
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string' ? holdsWord(value, controlToken) : value?.some((one) => holdsWord(one, controlToken)))
      return true;
  }
  const basic = /^Basic\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (basic !== undefined && holdsWord(Buffer.from(basic, 'base64').toString(), controlToken)) return true;
  return (
    url.includes('?') && new URLSearchParams(url.split('?')[1]).values().some((value) => holdsWord(value, controlToken))
  );
}

/** Whether `word` stands in a text, between white space, punctuation of headers, or its ends. */
function holdsWord(text: string, word: string): boolean {
  // The length is no secret; what has it is compared in constant time.
  const last = text.length - word.length;
  for (let start = 0; start <= last; start++) {
    if (start > 0 && !SEPARATORS.has(text[start - 1] as string)) continue;
    const end = start + word.length;
    if (end < text.length && !SEPARATORS.has(text[end] as string)) continue;
    if (sameSecret(text.slice(start, end), word)) return true;
  }
  return false;
}

const SEPARATORS: ReadonlySet<string> = new Set(' \t,;:="\'');

/** Trainer and operators: 401 without the control token. */
export function checkControl(headers: IncomingHttpHeaders, controlToken: string | null): ServiceError | null {
  const bearer = /^Bearer\s+(.+)$/i.exec(headers.authorization ?? '')?.[1]?.trim();
  if (controlToken !== null && bearer !== undefined && sameSecret(bearer, controlToken)) return null;
  return serviceError('unauthorized', 'This needs "Authorization: Bearer <control token>".');
}

/**
 * Agents: the control token is refused wherever it stands; where agent keys are required the key must be the one of this attempt (of any attempt on plain paths).
 */
export function checkAgent(
  { headers, url }: { readonly headers: IncomingHttpHeaders; readonly url: string },
  attempt: string | null,
  secrets: { readonly controlToken: string | null; readonly keySecret: string | null },
): ServiceError | null {
  const { controlToken, keySecret } = secrets;
  if (controlToken !== null && carriesControlToken(headers, url, controlToken)) {
    return serviceError('unauthorized', 'The control token is not valid on the agent side.');
  }
  if (keySecret === null) return null;
  const valid = keysOf(headers).some((key) => {
    const owner = attempt ?? key.split('.').slice(2).join('.');
    return owner !== '' && sameSecret(key, mintAgentKey(keySecret, owner));
  });
  if (valid) return null;
  return serviceError(
    'unauthorized',
    attempt === null
      ? 'This server requires an agent key, as "Authorization: Bearer <key>" or "x-api-key".'
      : 'This server requires the agent key of this attempt, as "Authorization: Bearer <key>" or "x-api-key".',
  );
}
