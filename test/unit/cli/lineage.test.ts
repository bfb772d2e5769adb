import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { CONTROL_TOKEN, startStack } from '../../support/stack.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'cli', 'main.ts');

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function lineage(args: readonly string[], input?: string): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, 'lineage', ...args], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
    child.stdin?.end(input ?? '');
  });
}

const PATH = '/v1/chat/completions';
const user = (content: string) => ({ role: 'user', content });
const said = (content: string) => ({ role: 'assistant', content });
const line = (messages: object[], more: object = {}) =>
  JSON.stringify({ path: PATH, body: { model: 'policy', messages }, ...more });
const REQUESTS = [
  line([user('go')], { response: { choices: [{ message: said('one') }] } }),
  line([user('go'), said('one'), user('on')]),
  '',
  line([user('go'), said('ONE!'), user('on')]),
].join('\n');

describe('gym-model-proxy lineage', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gym-lineage-'));
  after(() => rmSync(folder, { recursive: true }));

  test('--requests says of each request which earlier one it would continue, and why not', async () => {
    const file = join(folder, 'requests.jsonl');
    writeFileSync(file, REQUESTS);
    const { code, stdout } = await lineage(['--requests', file]);
    assert.equal(code, 0);
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      '3 requests, 1 continuation, 2 roots',
      '',
      '1  root: first_call       No call of this attempt was recorded before.',
      '2  continues 1',
      '4  root: history_differs  Item 1 (assistant) differs from that of call 2: its text, 3 there and 4 here.',
    ]);
  });

  test('--requests - reads standard input; --json prints a line per request', async () => {
    const { stdout } = await lineage(['--requests', '-', '--json'], REQUESTS);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    assert.deepEqual(
      lines.map(({ name, outcome }) => [name, outcome]),
      [
        ['1', 'root'],
        ['2', 'continues'],
        ['4', 'root'],
      ],
    );
    assert.equal(lines[1].parent, '1');
    assert.equal(lines[2].why.part, 'text');
  });

  test('a file that cannot be read is refused in words that name the line', async () => {
    for (const [input, words] of [
      ['{"path": "/v1/responses"', /line 1: this is not JSON/],
      [`${line([])}\n{"path":"/v1/responses","body":[]}`, /line 2: it needs a "path" and a "body"/],
      [line([], { response: 'data: {}' }), /line 1: "response" is no JSON object/],
    ] as const) {
      const { code, stderr } = await lineage(['--requests', '-'], input);
      assert.equal(code, 1);
      assert.match(stderr, words);
    }
    assert.match((await lineage(['--requests', join(folder, 'none')])).stderr, /ENOENT/);
    assert.match((await lineage([])).stderr, /name an attempt, or a file/);
    assert.match((await lineage(['a', '--requests', '-'])).stderr, /name an attempt, or a file/);
  });

  test('an attempt: every root with its reason', async () => {
    const stack = await startStack({ worker: { script: { answers: [{ content: 'one' }, { content: 'two' }] } } });
    try {
      const path = `/ng-rollout/a1${PATH}`;
      await stack.post(path, { model: 'policy', messages: [user('go')] });
      await stack.post(path, { model: 'policy', messages: [user('go'), said('one'), user('on')] });
      await stack.post(path, { model: 'policy', messages: [user('go'), said('one?'), user('on')] });
      const args = ['a1', '--url', stack.proxy.controlUrl, '--token', CONTROL_TOKEN];
      const { code, stdout, stderr } = await lineage(args);
      assert.equal(code, 0, stderr);
      const { json } = await stack.control('GET', '/ledger/a1');
      const [first, second, third] = json.manifest.records.map(
        ({ model_call_id }: { model_call_id: string }) => model_call_id,
      );
      assert.deepEqual(stdout.trimEnd().split('\n'), [
        'attempt a1: 3 calls, 2 roots',
        '',
        'c1  first_call       No call of this attempt was recorded before.',
        'c3  history_differs  Item 1 (assistant) differs from that of call c2: its text, 3 there and 4 here.',
        '',
        `c1  ${first}`,
        `c2  ${second}`,
        `c3  ${third}`,
      ]);
      const lines = (await lineage([...args, '--json'])).stdout.trimEnd().split('\n');
      assert.deepEqual(
        lines.map((text) => JSON.parse(text).cause),
        ['first_call', 'history_differs'],
      );
      assert.match((await lineage(['a1', '--url', stack.proxy.controlUrl, '--token', 'wrong'])).stderr, /401/);
    } finally {
      await stack.close();
    }
  });
});
