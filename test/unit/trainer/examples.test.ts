import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { runBestOfTwo } from '../../../examples/best-of-two.ts';
import { runBranchSearch } from '../../../examples/branch-search.ts';
import { closeAndBuild } from '../../../examples/close-and-build.ts';
import { runCompactionAgent } from '../../../examples/compaction-agent.ts';
import { playGroup } from '../../../examples/direct-episode.ts';
import { AGENT, WORKER } from '../../../src/demo/worked-example.ts';
import { allCaptured, type RolloutOutcome } from '../../../src/trainer/index.ts';
import { RowsFolder, rowsIn } from '../../support/rows-folder.ts';
import { CONTROL_TOKEN, type Stack, startStack } from '../../support/stack.ts';

const examples = join(import.meta.dirname, '..', '..', '..', 'examples');

let stack: Stack;
before(async () => {
  stack = await startStack();
});
after(() => stack.close());

const side = () => ({ controlUrl: stack.proxy.controlUrl, token: CONTROL_TOKEN, workerUrl: stack.worker.url });

function rowsOf(outcome: RolloutOutcome) {
  assert.equal(outcome.kind, 'rows', outcome.kind === 'masked' ? JSON.stringify(outcome.reasons) : '');
  return outcome.kind === 'rows' ? outcome.rows : [];
}

/** Names the calls of an outcome c1, c2, ... in commit order. */
function named(outcome: RolloutOutcome) {
  const names = new Map(outcome.ledger?.records.map((record, at) => [record.model_call_id, `c${at + 1}`]));
  return {
    parents: outcome.ledger?.records.map(({ parent_call_id: parent }) => (parent === null ? '-' : names.get(parent))),
    selected: outcome.selection?.calls.map((record) => names.get(record.model_call_id)),
    rows: rowsOf(outcome).map((row) =>
      row.spans.map(({ callId, withLoss }) => `${names.get(callId)}${withLoss ? '' : '*'}`).join(' '),
    ),
  };
}

describe('a fork', () => {
  test('the better of two is kept, the other one carries no loss', async () => {
    const attempt = 'best-of-two';
    stack.worker.script({
      rules: [
        { when: { attempt, turn: 0 }, content: 'plan', times: 1 },
        { when: { attempt, turn: 1 }, content: 'short', times: 1 },
        { when: { attempt, turn: 1 }, content: 'a longer answer', times: 1 },
      ],
    });
    const result = await runBestOfTwo({
      baseURL: `${stack.base(attempt)}/v1`,
      model: 'policy',
      task: 't',
      score: (answer) => answer.length,
    });
    assert.equal(result.reward, 15);
    const outcome = await closeAndBuild(side(), attempt, result);
    const { parents, selected, rows } = named(outcome);
    assert.deepEqual(parents, ['-', 'c1', 'c1']);
    assert.equal(selected?.length, 2);
    assert.equal(rows.length, 1);
    const kept = outcome.selection?.calls[1];
    assert.equal(kept?.response_id, result.response.id);
  });

  test('two equal answers are told apart by their ids', async () => {
    const attempt = 'equal-of-two';
    const result = await runBestOfTwo({
      baseURL: `${stack.base(attempt)}/v1`,
      model: 'policy',
      task: 't',
      score: () => 0,
    });
    const { parents, rows } = named(await closeAndBuild(side(), attempt, result));
    assert.deepEqual([parents, rows.length], [['-', 'c1', 'c1'], 1]);
  });
});

test('a search with two branches: all captured calls, one row per branch, the opening with loss once', async () => {
  const attempt = 'branch-search';
  const result = await runBranchSearch({
    baseURL: `${stack.base(attempt)}/v1`,
    model: 'policy',
    task: 't',
    directions: ['left', 'right'],
    depth: 2,
    score: (answer) => answer.length,
  });
  const outcome = await closeAndBuild(side(), attempt, result, allCaptured);
  const rows = rowsOf(outcome);
  assert.equal(outcome.selection?.calls.length, 7);
  assert.equal(outcome.selection?.scored?.response_id, result.terminal_response_id);
  assert.deepEqual(
    rows.map(({ spans }) => spans.map(({ withLoss }) => withLoss)),
    [
      [true, true, true, true],
      [false, true, true, true],
    ],
  );
});

describe('the compaction agent', () => {
  let worked: Stack;
  before(async () => {
    worked = await startStack({ worker: WORKER });
  });
  after(() => worked.close());

  test('a custom policy keeps what came after the last compaction; the command finds it by its path', async () => {
    const attempt = 'group_g0';
    const result = await runCompactionAgent({ ...AGENT, baseURL: `${worked.base(attempt)}/v1` });
    const folder = new RowsFolder();
    try {
      const options = {
        ledger: `${worked.proxy.controlUrl}/ledger/${attempt}`,
        token: CONTROL_TOKEN,
        staged: worked.worker.url,
        result: folder.write('result.json', result),
      };
      const byDefault = await folder.run(options);
      assert.deepEqual(
        rowsIn(byDefault.out).map((row) => [row.token_ids, row.loss_mask]),
        [
          [
            [10, 11, 1001, 20, 21, 1002],
            [0, 0, 1, 0, 0, 1],
          ],
          [
            [30, 31, 1003, 40, 41, 1005],
            [0, 0, 1, 0, 0, 1],
          ],
        ],
      );
      const custom = await folder.run({ ...options, policy: `${join(examples, 'custom-policy.ts')}:lastContext` });
      assert.deepEqual(
        rowsIn(custom.out).map((row) => [row.row_id, row.token_ids]),
        [['group_g0_s0', [30, 31, 1003, 40, 41, 1005]]],
      );
    } finally {
      folder.remove();
    }
  });

  test('twenty appended turns make one row, a compaction after turn ten makes two', async () => {
    for (const [keepTurns, rows] of [
      [99, 1],
      [10, 2],
    ] as const) {
      const attempt = `turns-${keepTurns}`;
      let turn = 0;
      stack.worker.script({
        rules: [
          { when: { attempt, attempt_index: 19 }, content: 'done' },
          { when: { attempt }, tool_calls: [{ name: 'next', arguments: {} }] },
        ],
      });
      const result = await runCompactionAgent({
        baseURL: `${stack.base(attempt)}/v1`,
        model: 'policy',
        task: 'count',
        tools: [
          {
            name: 'next',
            description: 'd',
            parameters: { type: 'object', properties: {} },
            run: () => `turn ${++turn}`,
          },
        ],
        keepTurns,
        compact: (observation) => `so far: ${observation}`,
        accept: () => true,
        score: () => 1,
        maxCalls: 20,
      });
      const outcome = await closeAndBuild(side(), attempt, result);
      assert.equal(rowsOf(outcome).length, rows);
      assert.equal(outcome.selection?.calls.length, 20);
    }
  });
});

test('episodes without agent, proxy or worker feed the kit directly', async () => {
  const { outcomes, rows } = await playGroup(9);
  assert.deepEqual(
    outcomes.map(({ kind, reward }) => [kind, reward]),
    [
      ['rows', 1],
      ['rows', 0],
      ['rows', 1],
      ['rows', 0],
    ],
  );
  assert.deepEqual(
    rows.map((row) => [row.row_id, row.advantage]),
    [
      ['guess_g0_s0', 0.5],
      ['guess_g1_s0', -0.5],
      ['guess_g2_s0', 0.5],
      ['guess_g3_s0', -0.5],
    ],
  );
  assert.deepEqual(
    [rows[0]?.token_ids, rows[0]?.loss_mask],
    [
      [1, 107, 2, 111, 3, 109],
      [0, 1, 0, 1, 0, 1],
    ],
  );
});

describe('the scripts', () => {
  const run = promisify(execFile);
  const script = (name: string, args: string[]) => run(process.execPath, [join(examples, name), ...args]);

  test('run as they are', async () => {
    const args = ['--proxy', stack.proxy.url, '--worker', stack.worker.url, '--token', CONTROL_TOKEN];
    for (const name of ['best-of-two.ts', 'branch-search.ts']) {
      const { stdout } = await script(name, args);
      assert.match(stdout, /^rows: \d, reward 0$/m, name);
    }
    const direct = await script('direct-episode.ts', []);
    assert.match(direct.stdout, /^guess_g0_s0 reward 1 advantage 0\.5$/m);
  });
});

describe('the Python snippet', () => {
  const python = spawnSync('python3', ['--version']).status === 0;

  test('closes an attempt and pulls its ledger', async () => {
    assert.ok(python, 'python3 is needed for this test');
    const attempt = 'from-python';
    await stack.post(`/ng-rollout/${attempt}/v1/responses`, { model: 'policy', input: 'hello' });
    const run = (token: string, url = stack.proxy.controlUrl) =>
      promisify(execFile)('python3', [join(examples, 'pull_ledger.py'), url, attempt, '--wait-s', '5'], {
        env: { ...process.env, GYM_PROXY_CONTROL_TOKEN: token },
      });
    const { stdout } = await run(CONTROL_TOKEN);
    const ledger = JSON.parse(stdout);
    assert.deepEqual(
      [ledger.attempt, ledger.state, ledger.complete, ledger.manifest.records.length],
      [attempt, 'closed', true, 1],
    );

    const folder = new RowsFolder();
    try {
      const files = { ledger: join(folder.folder, 'ledger.json'), staged: stack.worker.url };
      writeFileSync(files.ledger, stdout);
      const result = folder.write('result.json', {
        reward: 1,
        ng_trajectory: { turns: [{ model_calls: [{ model_call_id: ledger.manifest.records[0].model_call_id }] }] },
      });
      assert.equal((await folder.run({ ...files, result })).exit, 0);
    } finally {
      folder.remove();
    }
    await assert.rejects(
      run('wrong'),
      (error: { code: number; stderr: string }) => error.code === 1 && /^401: /.test(error.stderr),
    );
    await assert.rejects(
      run(CONTROL_TOKEN, 'http://127.0.0.1:1'),
      (error: { code: number; stderr: string }) => error.code === 1 && /cannot be reached/.test(error.stderr),
    );
  });
});
