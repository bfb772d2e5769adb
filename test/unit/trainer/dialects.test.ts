import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { closeAndBuild } from '../../../examples/close-and-build.ts';
import { defaultPolicy, type RolloutOutcome } from '../../../src/trainer/index.ts';
import { CONTROL_TOKEN, type Stack, startStack } from '../../support/stack.ts';

/** Two turns with a tool call in each dialect, through proxy and worker; the harness returns the answers as the dialect has them. */
const SCRIPT = (attempt: string) => ({
  rules: [
    {
      when: { attempt, turn: 0 },
      reasoning: 'look first',
      content: 'Let me look.',
      tool_calls: [{ id: 'call_1', name: 'look', arguments: '{ "at": "x" }' }],
    },
    { when: { attempt, turn: 1 }, reasoning: 'seen', content: 'It is x.' },
  ],
});

type Item = { [name: string]: unknown };

async function chat(stack: Stack, attempt: string) {
  const messages: Item[] = [{ role: 'user', content: 'what is it' }];
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  const first = (await stack.post(`/ng-rollout/${attempt}/v1/chat/completions`, { model: 'policy', messages, tools }))
    .json;
  messages.push(first.choices[0].message, { role: 'tool', tool_call_id: 'call_1', content: 'x' });
  const second = (await stack.post(`/ng-rollout/${attempt}/v1/chat/completions`, { model: 'policy', messages, tools }))
    .json;
  return { id: second.id, output: [...messages.slice(1), second.choices[0].message] };
}

async function messages(stack: Stack, attempt: string) {
  const history: Item[] = [{ role: 'user', content: 'what is it' }];
  const body = { model: 'policy', max_tokens: 100, tools: [{ name: 'look', input_schema: { type: 'object' } }] };
  const first = (await stack.post(`/ng-rollout/${attempt}/v1/messages`, { ...body, messages: history })).json;
  history.push(
    { role: 'assistant', content: first.content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'x' }] },
  );
  const second = (await stack.post(`/ng-rollout/${attempt}/v1/messages`, { ...body, messages: history })).json;
  return { id: second.id, output: [...history.slice(1), { role: 'assistant', content: second.content }] };
}

async function responses(stack: Stack, attempt: string) {
  const input: Item[] = [{ role: 'user', content: 'what is it' }];
  const body = {
    model: 'policy',
    tools: [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: false }],
  };
  const first = (await stack.post(`/ng-rollout/${attempt}/v1/responses`, { ...body, input })).json;
  input.push(...first.output, { type: 'function_call_output', call_id: 'call_1', output: 'x' });
  const second = (await stack.post(`/ng-rollout/${attempt}/v1/responses`, { ...body, input })).json;
  return { id: second.id, output: [...input.slice(1), ...second.output] };
}

const DIALECTS = { chat, messages, responses };

test('an image in a later turn: its occurrence stands inside the new prompt tokens of that call', async () => {
  const stack = await startStack();
  try {
    const attempt = 'image';
    const pixel =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const body = { model: 'policy' };
    const input: Item[] = [{ role: 'user', content: 'what is it' }];
    const first = (await stack.post(`/ng-rollout/${attempt}/v1/responses`, { ...body, input })).json;
    input.push(...first.output, { role: 'user', content: [{ type: 'input_image', image_url: pixel, detail: 'auto' }] });
    const second = (await stack.post(`/ng-rollout/${attempt}/v1/responses`, { ...body, input })).json;
    const result = { response: { id: second.id, output: [...first.output, ...second.output] }, reward: 1 };
    const side = { controlUrl: stack.proxy.controlUrl, token: CONTROL_TOKEN, workerUrl: stack.worker.url };
    const outcome = await closeAndBuild(side, attempt, result);
    assert.equal(outcome.kind, 'rows', outcome.kind === 'masked' ? JSON.stringify(outcome.reasons) : '');
    const [key] = outcome.ledger?.records.slice(1).map((record) => record.staging_key) ?? [];
    const extras = stack.worker.stagedRecord(key as string)?.extras as { media_spans: { width: number }[] };
    assert.deepEqual(
      extras.media_spans.map(({ width }) => width),
      [1],
    );
  } finally {
    await stack.close();
  }
});

/** Arguments that are no JSON object, or not what a custom tool asked for: models cut them off, or write something else. */
const ODD_ARGUMENTS = [
  'not json {',
  '{"a":1',
  '[1,2]',
  '"text"',
  '5',
  'null',
  'NaN',
  '',
  '{"input":"a","extra":1}',
  '{"_raw":5}',
];

/** One turn with a call of the tool `patch`; the answer as the harness returns it. */
const ONE_CALL: Readonly<Record<string, (stack: Stack, attempt: string) => Promise<Item[]>>> = {
  async chat(stack, attempt) {
    const tools = [{ type: 'function', function: { name: 'patch', parameters: { type: 'object' } } }];
    const body = { model: 'policy', messages: [{ role: 'user', content: 'go' }], tools };
    return [(await stack.post(`/ng-rollout/${attempt}/v1/chat/completions`, body)).json.choices[0].message];
  },
  async 'chat, custom'(stack, attempt) {
    const tools = [{ type: 'custom', custom: { name: 'patch' } }];
    const body = { model: 'policy', messages: [{ role: 'user', content: 'go' }], tools };
    return [(await stack.post(`/ng-rollout/${attempt}/v1/chat/completions`, body)).json.choices[0].message];
  },
  async messages(stack, attempt) {
    const tools = [{ name: 'patch', input_schema: { type: 'object' } }];
    const body = { model: 'policy', max_tokens: 9, messages: [{ role: 'user', content: 'go' }], tools };
    return [
      { role: 'assistant', content: (await stack.post(`/ng-rollout/${attempt}/v1/messages`, body)).json.content },
    ];
  },
  async responses(stack, attempt) {
    const tools = [{ type: 'function', name: 'patch', parameters: { type: 'object' }, strict: false }];
    return (await stack.post(`/ng-rollout/${attempt}/v1/responses`, { model: 'policy', input: 'go', tools })).json
      .output;
  },
  async 'responses, custom'(stack, attempt) {
    const tools = [{ type: 'custom', name: 'patch' }];
    return (await stack.post(`/ng-rollout/${attempt}/v1/responses`, { model: 'policy', input: 'go', tools })).json
      .output;
  },
};

test('calls with odd arguments are found in what is returned, in every dialect', async () => {
  const stack = await startStack();
  try {
    const side = { controlUrl: stack.proxy.controlUrl, token: CONTROL_TOKEN, workerUrl: stack.worker.url };
    for (const [dialect, run] of Object.entries(ONE_CALL)) {
      for (const [at, args] of ODD_ARGUMENTS.entries()) {
        const attempt = `odd-${dialect.replace(', ', '-')}-${at}`;
        const calls = [{ id: 'call_1', name: 'patch', arguments: args }];
        stack.worker.script({ rules: [{ when: { attempt }, content: 'so', tool_calls: calls }] });
        const result = { response: { id: 'h', output: await run(stack, attempt) }, reward: 1 };
        const outcome = await closeAndBuild(side, attempt, result);
        const why = outcome.kind === 'masked' ? JSON.stringify(outcome.reasons) : '';
        assert.equal(outcome.kind, 'rows', `${dialect} ${args}: ${why}`);
      }
    }
  } finally {
    await stack.close();
  }
});

for (const schemaVersion of [3, 2] as const) {
  describe(`schema ${schemaVersion}`, () => {
    let stack: Stack;
    before(async () => {
      stack = await startStack({ config: { 'capture.schema_version': String(schemaVersion) } });
    });
    after(() => stack.close());

    const build = (attempt: string, result: object): Promise<RolloutOutcome> =>
      closeAndBuild(
        { controlUrl: stack.proxy.controlUrl, token: CONTROL_TOKEN, workerUrl: stack.worker.url },
        attempt,
        result,
        defaultPolicy,
      );

    for (const [dialect, run] of Object.entries(DIALECTS)) {
      test(`${dialect}: what the harness returns selects both calls, one row`, async () => {
        const attempt = `${dialect}-${schemaVersion}`;
        stack.worker.script(SCRIPT(attempt));
        const response = await run(stack, attempt);
        for (const id of [response.id, 'of-the-harness']) {
          const outcome = await build(attempt, { response: { ...response, id }, reward: 1 });
          assert.equal(outcome.kind, 'rows', outcome.kind === 'masked' ? JSON.stringify(outcome.reasons) : '');
          assert.deepEqual(outcome.ledger?.schemaVersion, schemaVersion);
          assert.equal(outcome.selection?.calls.length, 2);
          assert.equal(outcome.selection?.policy, schemaVersion === 3 ? 'returned_history' : 'declared');
          assert.deepEqual(
            outcome.kind === 'rows' && outcome.rows.map(({ spans }) => spans.map(({ withLoss }) => withLoss)),
            [[true, true]],
          );
        }
      });
    }
  });
}
