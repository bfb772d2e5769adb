import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attemptsPage, callsPage } from '../../src/inspector/pages.ts';
import { freePort } from '../support/ports.ts';
import { type Reply, type Stack, send, startStack } from '../support/stack.ts';

/** The page at `/inspector` and the pages by cursor that it draws. How it looks is seen in a browser, by hand. */

const say = (content: string) => ({ role: 'user', content });

async function call(stack: Stack, attempt: string, messages: readonly unknown[]): Promise<Reply> {
  return stack.post(`/ng-rollout/${attempt}/v1/chat/completions`, { model: 'policy', messages });
}

/** A first call and one that continues it; gives the history with both answers. */
async function twoCalls(stack: Stack, attempt: string): Promise<unknown[]> {
  const first = [say('one')];
  const answer = await call(stack, attempt, first);
  const second = [...first, answer.json.choices[0].message, say('two')];
  const next = await call(stack, attempt, second);
  return [...second, next.json.choices[0].message];
}

describe('inspector', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.close());

  test('the page needs no token, loads nothing from elsewhere, and can be framed by nobody', async () => {
    const page = await stack.get('/inspector');
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);
    assert.deepEqual(files.toSorted(), ['/inspector/main.js', '/inspector/style.css', 'data:,']);
    assert.doesNotMatch(page.text, /<style|<script>|\son\w+=|style=/, 'nothing inline, which the policy forbids');
    const policy = (page.headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
      const [name, ...sources] = rule.split(' ');
      return [name, sources.join(' ')];
    });
    assert.deepEqual(Object.fromEntries(policy), {
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'connect-src': "'self'",
      'img-src': 'data:',
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    });
    assert.equal(page.headers.get('x-content-type-options'), 'nosniff');
  });

  test('every file that the page imports is there, names no other host and writes no HTML', async () => {
    const seen = new Set<string>();
    const wanted = ['/inspector/main.js', '/inspector/style.css'];
    for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
      seen.add(path);
      const file = await stack.get(path);
      assert.equal(file.status, 200, path);
      assert.equal(
        file.headers.get('content-type'),
        path.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
      );
      assert.ok(file.headers.get('content-security-policy'));
      // The name of the SVG namespace is an identifier, not an address.
      const text = file.text.replaceAll('http://www.w3.org/2000/svg', '');
      assert.doesNotMatch(
        text,
        /https?:|url\(|@import ['"]|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/,
        path,
      );
      for (const [, name] of text.matchAll(/from '\.\/([^']+)'/g)) {
        const next = `/inspector/${name}`;
        if (!seen.has(next) && !wanted.includes(next)) wanted.push(next);
      }
    }
    assert.equal(seen.size, 7);
  });

  test('attempts and calls need the control token', async () => {
    for (const path of ['/attempts', '/ledger/some/calls']) {
      assert.equal((await stack.get(path)).status, 401, path);
      assert.equal((await stack.get(path, { authorization: 'Bearer wrong' })).status, 401, path);
    }
  });

  test('attempts are listed by name, page by page', async () => {
    for (const attempt of ['list-b', 'list-a', 'list-c']) await call(stack, attempt, [say('hello')]);
    await stack.control('POST', '/ledger/list-b/close');
    await stack.control('POST', '/ledger/retire', { capture_keys: ['list-c'] });
    const first = attemptsPage.parse((await stack.control('GET', '/attempts?cursor=list-&limit=2')).json);
    const row = { pending: 0, failures: 0, refused: 0 };
    assert.deepEqual(
      first.attempts.map(({ last_activity_at: _, ...rest }) => rest),
      [
        { attempt: 'list-a', state: 'open', records: 1, ...row },
        { attempt: 'list-b', state: 'closed', records: 1, ...row },
      ],
    );
    assert.ok(first.attempts.every(({ last_activity_at }) => last_activity_at > 1.7e9));
    assert.equal(first.next, 'list-b');
    const second = attemptsPage.parse((await stack.control('GET', '/attempts?cursor=list-b&limit=2')).json);
    assert.deepEqual(
      second.attempts.map(({ attempt, state, records }) => [attempt, state, records]),
      [['list-c', 'retired', 0]],
    );
    assert.equal(second.next, null);
  });

  test("an attempt's calls come in commit order, without texts, with the reason of each root", async () => {
    const history = await twoCalls(stack, 'forest');
    const rewrite = await call(stack, 'forest', [say('another'), ...history.slice(1), say('three')]);
    assert.equal(rewrite.status, 200);
    const reply = await stack.control('GET', '/ledger/forest/calls');
    const page = callsPage.parse(reply.json);
    const ledger = (await stack.control('GET', '/ledger/forest')).json;
    assert.equal(page.state, 'open');
    assert.equal(page.complete, false);
    assert.deepEqual(page.counts, { records: 3, pending: 0, failures: 0, refused: 0 });
    assert.equal(page.next, null);
    assert.deepEqual(
      page.calls,
      ledger.manifest.records.map((record: Record<string, unknown>) => ({
        model_call_id: record.model_call_id,
        parent_call_id: record.parent_call_id,
        prev_len: record.prev_len,
        delta_len: record.delta_len,
        cum_len: record.cum_len,
        weight_version: record.weight_version,
        response_status: 'completed',
        finish_reason: 'stop',
        admitted_at: record.admitted_at,
        ...(record.parent_call_id === null ? { why_root: ledger.why_root[record.model_call_id as string] } : {}),
      })),
    );
    assert.deepEqual(
      page.calls.map(({ why_root }) => why_root?.cause),
      ['first_call', undefined, 'history_differs'],
    );
    const answers = history.flatMap((message) => (message as { content: string }).content);
    for (const text of ['another', ...answers].filter((content) => content.length > 4))
      assert.ok(!reply.text.includes(text), text);
  });

  test('pages of calls are cut by number, so that a page asked for later goes on where the last one ended', async () => {
    let history = await twoCalls(stack, 'paged');
    const ask = async (query: string) =>
      callsPage.parse((await stack.control('GET', `/ledger/paged/calls?${query}`)).json);
    const first = await ask('limit=1');
    assert.deepEqual([first.from, first.calls.length, first.next], [0, 1, 1]);
    const rest = await ask('from=1&limit=1');
    assert.deepEqual([rest.from, rest.calls[0]?.parent_call_id, rest.next], [1, first.calls[0]?.model_call_id, null]);
    const none = await ask('from=2');
    assert.deepEqual([none.calls, none.next, none.counts.records], [[], null, 2]);
    history = [...history, say('three')];
    await call(stack, 'paged', history);
    const grown = await ask('from=2');
    assert.deepEqual([grown.calls[0]?.parent_call_id, grown.next], [rest.calls[0]?.model_call_id, null]);
  });

  test('calls without a record are told: pending, failed, refused', async () => {
    const history = await twoCalls(stack, 'trouble');
    stack.worker.arm({ kind: 'capture_failed' });
    assert.equal((await call(stack, 'trouble', [...history, say('lost')])).status, 502);
    stack.worker.arm({ kind: 'length_refusal', input_tokens: 200_000 });
    assert.equal((await call(stack, 'trouble', [...history, say('too long')])).status, 400);
    await stack.control('POST', '/ledger/trouble/close?wait_s=0');
    const page = callsPage.parse((await stack.control('GET', '/ledger/trouble/calls')).json);
    assert.deepEqual(page.counts, { records: 2, pending: 1, failures: 1, refused: 1 });
    assert.deepEqual([page.state, page.complete], ['closed', false]);
    assert.deepEqual(page.failures, [{ model_call_id: page.pending[0], reason: 'worker_capture_failed' }]);
    assert.deepEqual(
      page.refused.map(({ code }) => code),
      ['context_length_exceeded'],
    );
  });

  test('an unknown attempt is open and empty, a retired one 410, a bad name or number 400 that names it', async () => {
    const unknown = callsPage.parse((await stack.control('GET', '/ledger/nobody/calls')).json);
    assert.deepEqual([unknown.state, unknown.calls, unknown.counts.records], ['open', [], 0]);
    await stack.control('POST', '/ledger/retire', { capture_keys: ['fenced'] });
    assert.equal((await stack.control('GET', '/ledger/fenced/calls')).json.error.code, 'attempt_retired');
    const bad: [path: string, code: string, param: string][] = [
      ['/ledger/-x/calls', 'invalid_attempt', 'attempt'],
      ['/ledger/x/calls?from=-1', 'invalid_request', 'from'],
      ['/ledger/x/calls?limit=501', 'invalid_request', 'limit'],
      ['/ledger/x/calls?limit=ten', 'invalid_request', 'limit'],
      ['/ledger/x/calls?form=1', 'invalid_request', 'form'],
      ['/attempts?limit=0', 'invalid_request', 'limit'],
      ['/attempts?page=2', 'invalid_request', 'page'],
    ];
    for (const [path, code, param] of bad) {
      const { status, json } = await stack.control('GET', path);
      assert.deepEqual([status, json.error.code, json.error.param], [400, code, param], path);
      assert.ok(json.error.message.startsWith(param === 'attempt' ? 'The attempt' : `${param}: `), json.error.message);
    }
  });
});

test('with a control port of its own, page and lists are there and not on the port of the agents', async () => {
  const stack = await startStack({ config: { 'control.port': String(await freePort()) } });
  try {
    for (const path of ['/inspector', '/inspector/main.js', '/attempts', '/ledger/x/calls']) {
      assert.equal((await stack.get(path)).status, 404, path);
    }
    assert.equal((await send('GET', `${stack.proxy.controlUrl}/inspector`)).status, 200);
    assert.equal((await stack.control('GET', '/attempts')).status, 200);
  } finally {
    await stack.close();
  }
});
