import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { json as readJson, text as readText } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { ScriptedAnswer } from '../../src/reference-worker/model.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { pythonProcessEnvironment } from './support/process.ts';
import { describeWith, PYTHON_FOLDER, pythonEnvironment } from './support/python-environment.ts';
import { MANNERS, nameOf } from './support/script.ts';

/** The official `openai` and `anthropic` packages for Python as agents, in both generations. */

const environment = await pythonEnvironment('clients');

const bash = (id: string, command: string) => ({ id, name: 'bash', arguments: JSON.stringify({ command }) });
/** Text and reasoning beside a call, two calls alone, an end, and an answer to one further question. */
const ANSWERS: readonly ScriptedAnswer[] = [
  { content: 'I look.', reasoning: 'First look.', tool_calls: [bash('call_a', 'ls -l')] },
  { tool_calls: [bash('call_b', 'cat "ä b"'), bash('call_c', 'cat c')] },
  { content: 'Done: 完了.', reasoning: 'All is there.' },
  { content: 'Nothing more.' },
];
const SCHEMAS = [2, 3] as const;
const JOBS = SCHEMAS.flatMap((schema) =>
  MANNERS.map((manner) => ({ schema, manner, name: `${nameOf(manner)}, schema ${schema}` })),
);

/** What an agent saw of its rollout. */
interface Seen {
  readonly models: readonly string[];
  readonly turns: readonly (readonly [id: string, text: string | null, calls: number, tokens: number])[];
}

describeWith(environment, 'official Python clients', (python) => {
  const stacks = new Map<number, Stack>();
  let results: Seen[];
  const attemptOf = (job: (typeof JOBS)[number]) => nameOf(job.manner).replace(' ', '-').toLowerCase();
  const stackOf = ({ schema }: (typeof JOBS)[number]) => stacks.get(schema) as Stack;

  before(async () => {
    for (const schema of SCHEMAS)
      stacks.set(schema, await startStack({ config: { 'capture.schema_version': String(schema) } }));
    for (const job of JOBS) {
      const answers = ANSWERS.map((answer) => ({ ...answer, when: { attempt: attemptOf(job) } }));
      stackOf(job).worker.script({ answers, replace: false });
    }
    results = await runAgents(
      python,
      JOBS.map((job) => ({
        dialect: job.manner.dialect,
        stream: job.manner.stream === true,
        base_url: stackOf(job).base(attemptOf(job)),
      })),
    );
  });
  after(() => Promise.all([...stacks.values()].map((stack) => stack.close())));

  JOBS.forEach((job, at) => {
    test(`${job.manner.dialect === 'messages' ? 'anthropic' : 'openai'}: ${job.name}`, async () => {
      const seen = results[at] as Seen;
      assert.deepEqual(seen.models, ['policy']);
      assert.deepEqual(
        seen.turns.map(([, text, calls]) => [text, calls]),
        ANSWERS.map(({ content, tool_calls }) => [content ?? null, tool_calls?.length ?? 0]),
      );
      assert.ok(seen.turns.every(([, , , tokens]) => tokens > 0));

      const { json } = await stackOf(job).control('POST', `/ledger/${attemptOf(job)}/close?wait_s=10`);
      const records: { model_call_id: string; parent_call_id: string | null; response_id: string }[] =
        json.manifest.records;
      assert.equal(json.complete, true);
      assert.deepEqual(json.manifest.failures, []);
      assert.deepEqual(
        records.map((record) => record.response_id),
        seen.turns.map(([id]) => id),
      );
      assert.deepEqual(
        records.map((record) => record.parent_call_id),
        [null, ...records.slice(0, -1).map((record) => record.model_call_id)],
      );
    });
  });
});

async function runAgents(python: string, jobs: readonly object[]): Promise<Seen[]> {
  const child = spawn(python, [join(PYTHON_FOLDER, 'official_agents.py')], {
    stdio: 'pipe',
    env: pythonProcessEnvironment(),
  });
  child.stdin.end(JSON.stringify(jobs));
  const complaints = readText(child.stderr);
  try {
    return (await readJson(child.stdout)) as Seen[];
  } catch {
    throw new Error(`the agents gave up:\n${await complaints}`);
  }
}
