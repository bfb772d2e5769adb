/** @import { AttemptsPage, CallRow, CallsPage } from '../pages.ts' */
import { ask, storedToken, storeToken } from './control-api.js';
import { drawAttempts } from './draw-attempts.js';
import { drawForest } from './draw-forest.js';
import { byId, element } from './elements.js';

const LOOK_AGAIN_MS = 2_000;
/** A service that takes long to answer is asked less often. */
const PAUSE_PER_ANSWER_MS = 10;
const CALLS_PER_PAGE = 500;
const ROWS_AT_ONCE = 500;

const status = byId('status', HTMLElement);
const content = byId('content', HTMLElement);
const firstButton = byId('first', HTMLButtonElement);
const nextButton = byId('next', HTMLButtonElement);

/** Ends whatever watches the list, and the open attempt. */
let listWatch = new AbortController();
let attemptWatch = new AbortController();

/** @type {string | null} */
let cursor = null;

/** @returns {string | null} */
function openedAttempt() {
  try {
    return decodeURIComponent(location.hash.slice(1)) || null;
  } catch {
    return null;
  }
}

/**
 * Does the work again and again, while the page is seen. `work` says whether there is more to come.
 * @param {AbortSignal} signal
 * @param {() => Promise<boolean>} work
 */
async function repeat(signal, work) {
  while (!signal.aborted) {
    const startedMs = performance.now();
    let more = true;
    if (!document.hidden) {
      try {
        more = await work();
      } catch (error) {
        if (signal.aborted) return;
        status.textContent = `This page failed: ${error}. Load it again.`;
        throw error;
      }
    }
    if (!more) return;
    const tookMs = performance.now() - startedMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(LOOK_AGAIN_MS, tookMs * PAUSE_PER_ANSWER_MS)));
  }
}

/** @param {{ status: number, message: string }} failure */
function tell(failure) {
  if (failure.status === 401) signOut('The service does not accept this token.');
  else status.textContent = `${failure.message}${failure.status === 0 ? ' Trying again …' : ''}`;
}

/** @param {string} message */
function signOut(message) {
  storeToken(null);
  listWatch.abort();
  attemptWatch.abort();
  show();
  status.textContent = message;
}

function show() {
  const known = storedToken() !== null;
  byId('token-form', HTMLFormElement).hidden = known;
  byId('forget', HTMLButtonElement).hidden = !known;
  content.hidden = !known;
  status.textContent = '';
  byId('hint', HTMLElement).hidden = known;
  if (!known) return;
  watchList();
  watchAttempt();
}

function watchList() {
  listWatch.abort();
  listWatch = new AbortController();
  const { signal } = listWatch;
  repeat(signal, async () => {
    const query = new URLSearchParams(cursor === null ? { limit: '50' } : { limit: '50', cursor });
    /** @type {Awaited<ReturnType<typeof ask<AttemptsPage>>>} */
    const page = await ask(`/attempts?${query}`, signal);
    if (!page.ok) {
      tell(page);
      return true;
    }
    status.textContent = '';
    byId('attempts', HTMLElement).replaceChildren(drawAttempts(page.body.attempts, openedAttempt()));
    firstButton.disabled = cursor === null;
    nextButton.disabled = page.body.next === null;
    nextButton.onclick = () => turnTo(page.body.next);
    return true;
  });
}

/** @param {string | null} to */
function turnTo(to) {
  cursor = to;
  watchList();
}

function watchAttempt() {
  attemptWatch.abort();
  attemptWatch = new AbortController();
  const { signal } = attemptWatch;
  const attempt = openedAttempt();
  const title = byId('forest-title', HTMLElement);
  const summary = byId('summary', HTMLElement);
  const place = byId('calls', HTMLElement);
  title.textContent = attempt ?? 'No attempt is open';
  document.title = `${attempt ?? 'Attempts'} · gym-model-proxy`;
  summary.textContent = '';
  place.replaceChildren();
  if (attempt === null) return;
  // In a narrow window it stands below the list.
  if (title.getBoundingClientRect().top > window.innerHeight / 2) title.scrollIntoView();

  /** @type {CallRow[]} */
  let calls = [];
  let most = ROWS_AT_ONCE;
  let drawn = '';

  /** @param {CallsPage} head */
  const draw = (head) => {
    summary.textContent = summaryOf(head, calls.length);
    const looks = JSON.stringify([
      calls.length,
      calls.at(-1)?.model_call_id,
      most,
      head.pending,
      head.failures,
      head.refused,
    ]);
    if (looks === drawn) return;
    drawn = looks;
    const forest = drawForest(head, calls, most);
    place.replaceChildren(...forest.drawn);
    if (forest.left === 0) return;
    const button = element('button', { text: `Show ${Math.min(ROWS_AT_ONCE, forest.left)} more of ${forest.left}` });
    button.type = 'button';
    button.onclick = () => {
      most += ROWS_AT_ONCE;
      draw(head);
    };
    place.append(button);
  };

  repeat(signal, async () => {
    for (;;) {
      // The last known record is asked for again: if it is another one, the name was deleted and is used anew.
      const from = Math.max(0, calls.length - 1);
      const path = `/ledger/${encodeURIComponent(attempt)}/calls?from=${from}&limit=${CALLS_PER_PAGE}`;
      /** @type {Awaited<ReturnType<typeof ask<CallsPage>>>} */
      const page = await ask(path, signal);
      if (!page.ok) {
        if (page.status === 401) tell(page);
        else summary.textContent = page.status === 410 ? 'Retired: its records are gone.' : page.message;
        if (page.status === 0 || page.status >= 500) return true;
        place.replaceChildren();
        return false;
      }
      if (calls.length > 0 && page.body.calls[0]?.model_call_id !== calls[from]?.model_call_id) {
        calls = [];
        continue;
      }
      calls = [...calls.slice(0, from), ...page.body.calls];
      draw(page.body);
      if (page.body.next === null) return !page.body.complete;
    }
  });
}

/**
 * @param {CallsPage} head
 * @param {number} read
 */
function summaryOf(head, read) {
  const { records, pending, failures, refused } = head.counts;
  const state = head.complete ? 'closed, complete' : head.state;
  const progress = read < records ? ` (${read} read)` : '';
  return `${state}: ${records} records${progress}, ${pending} pending, ${failures} failures, ${refused} refused`;
}

byId('token-form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  const input = byId('token', HTMLInputElement);
  storeToken(input.value.trim());
  input.value = '';
  show();
});
byId('forget', HTMLButtonElement).addEventListener('click', () => signOut(''));
byId('open-form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  location.hash = encodeURIComponent(byId('attempt', HTMLInputElement).value.trim());
});
firstButton.addEventListener('click', () => turnTo(null));
window.addEventListener('hashchange', () => {
  watchList();
  watchAttempt();
});
show();
