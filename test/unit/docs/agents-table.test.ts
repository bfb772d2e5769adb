import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { AGENTS_DOC, withTables } from '../../../scripts/agents-table.ts';
import type { Outcome, ResultRow } from '../../agents/harness/results.ts';

const PAGE = ['results', 'rewrites', 'runs']
  .map((name) => `<!-- ${name}: begin (made by scripts/agents-table.ts) -->\nstale\n<!-- ${name}: end -->`)
  .join('\n');

const OUTCOME: Outcome = {
  calls: 3,
  continuations: 2,
  rootCalls: 1,
  wrongParents: 0,
  pending: 0,
  failures: 0,
  refused: 0,
  resends: 0,
  tokenFields: 0,
  roots: [{ call: 'c1', why: 'first call', rewrite: null }],
  unresolved: [],
};
const ROW: ResultRow = {
  agent: 'B',
  version: '1.0.0',
  dialect: 'Chat',
  run: 'task',
  schema3: OUTCOME,
  schema2: OUTCOME,
  note: null,
};
const REWRITE: ResultRow = {
  ...ROW,
  run: 'odd | turns',
  schema3: {
    ...OUTCOME,
    continuations: 1,
    rootCalls: 2,
    refused: 1,
    roots: [
      { call: 'c1', why: 'first call', rewrite: null },
      { call: 'c2', why: 'differs from c1 at item 2 (assistant): arguments (path)', rewrite: 'Paths are changed.' },
    ],
  },
  schema2: { ...OUTCOME, continuations: 0, refused: 1, failures: 1, unresolved: ['c2', 'c3'] },
  note: 'It goes on.',
};

test('the tables hold the sums of an agent and dialect, what clients change, and every run, whatever the order of the rows', () => {
  const stream = { ...REWRITE, dialect: 'Chat stream' };
  const text = withTables(PAGE, [stream, REWRITE, ROW, { ...ROW, agent: 'a' }]);
  assert.ok(!text.includes('stale'));
  assert.deepEqual(
    text.split('\n').filter((line) => line.startsWith('| a ') || line.startsWith('| B ')),
    [
      '| a | 1.0.0 | Chat | 1 | 3 | 2 | 1 | 2 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |',
      '| B | 1.0.0 | Chat | 2 | 6 | 3 | 3 | 2 | 2 | 2 | 0 | 0 | 1 | 1 | 0 | 0 |',
      '| B | 1.0.0 | Chat stream | 1 | 3 | 1 | 2 | 0 | 1 | 2 | 0 | 0 | 1 | 1 | 0 | 0 |',
      '| B | Chat, Chat stream | Paths are changed. | arguments (path) |',
      '| a | 1.0.0 | Chat | task | 3 | 2 | 1 | 2 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | `c1` first call. |  |',
      '| B | 1.0.0 | Chat | task | 3 | 2 | 1 | 2 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | `c1` first call. |  |',
      '| B | 1.0.0 | Chat | odd \\| turns | 3 | 1 | 2 | 0 | 1 | 2 | 0 | 0 | 1 | 1 | 0 | 0 | `c1` first call; `c2` differs from c1 at item 2 (assistant): arguments (path). It goes on. | `c2`, `c3` |',
      '| B | 1.0.0 | Chat stream | odd \\| turns | 3 | 1 | 2 | 0 | 1 | 2 | 0 | 0 | 1 | 1 | 0 | 0 | `c1` first call; `c2` differs from c1 at item 2 (assistant): arguments (path). It goes on. | `c2`, `c3` |',
    ],
  );
  assert.equal(withTables(text, [ROW, stream, { ...ROW, agent: 'a' }, REWRITE]), text);
  assert.throws(() => withTables('no marks', []), /lacks the marks of results/);
});

test('docs/agents.md: at least 12 agents and dialects, none under either generation with a wrong parent, a pending call, a failure or a token-like field', () => {
  const text = readFileSync(AGENTS_DOC, 'utf8');
  const table = text.slice(text.indexOf('<!-- results: begin'), text.indexOf('<!-- results: end'));
  const [names, , ...rows] = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  assert.ok(rows.length >= 12);
  for (const name of ['wrong parents', 'pending', 'failures', 'token-like fields']) {
    const at = names?.indexOf(name) ?? -1;
    assert.ok(at > 0, name);
    for (const row of rows) assert.equal(row[at], '0', `${name}: ${row.join(' ')}`);
  }
});
