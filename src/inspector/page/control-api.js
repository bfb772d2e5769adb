/** Asks the control side of the service that served this page, with the token that the person typed in. */

const KEY = 'gym-model-proxy control token';

/** @returns {string | null} */
export function storedToken() {
  return sessionStorage.getItem(KEY);
}

/** @param {string | null} token */
export function storeToken(token) {
  if (token === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}

/**
 * The JSON at a path; a failure says what to tell the person.
 * @template T
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {Promise<{ ok: true, body: T } | { ok: false, status: number, message: string }>} status 0: no answer
 */
export async function ask(path, signal) {
  try {
    const reply = await fetch(path, {
      headers: { authorization: `Bearer ${storedToken() ?? ''}` },
      cache: 'no-store',
      signal,
    });
    if (reply.ok) return { ok: true, body: await reply.json() };
    const body = await reply.json().catch(() => null);
    return { ok: false, status: reply.status, message: body?.error?.message ?? `status ${reply.status}` };
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, status: 0, message: `no answer from the service (${error})` };
  }
}
