import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import OpenAI from 'openai';
import { type Stack, startStack } from '../support/stack.ts';

/** Helpers of the official clients, with their own defaults, against the whole service: each turn continues the one before. */

let stack: Stack;
before(async () => {
  const call = { id: 'c1', name: 'look', arguments: '{"at":"x"}' };
  stack = await startStack({
    worker: {
      script: {
        answers: [
          { reasoning: 'r'.repeat(200), content: 'first' },
          { content: 'second' },
          { content: null, tool_calls: [call] },
          { content: 'done' },
          { content: null, tool_calls: [call] },
          { content: 'done' },
        ],
      },
    },
  });
});
after(() => stack.close());

const parents = async (attempt: string) =>
  (await stack.control('GET', `/ledger/${attempt}`)).json.manifest.records.map(
    (record: { parent_call_id: string | null }) => record.parent_call_id !== null,
  );

test('openai: a streamed message with long reasoning is sent back whole', async () => {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${stack.base('stream')}/v1` });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'q' }];
  const { choices } = await client.chat.completions.stream({ model: 'policy', messages }).finalChatCompletion();
  const message = choices[0]?.message as OpenAI.ChatCompletionMessage & { reasoning?: string };
  assert.equal(message.reasoning, 'r'.repeat(200));
  await client.chat.completions.create({
    model: 'policy',
    messages: [...messages, message, { role: 'user', content: 'and?' }],
  });
  assert.deepEqual(await parents('stream'), [false, true]);
});

for (const stream of [false, true])
  test(`anthropic: a tool runner is told that there are no threads, and sends the history (stream: ${stream})`, async () => {
    const attempt = `runner-${stream}`;
    const client = new Anthropic({ apiKey: 'none', baseURL: stack.base(attempt), maxRetries: 0 });
    const look = betaTool({
      name: 'look',
      description: 'looks',
      inputSchema: { type: 'object', properties: { at: { type: 'string' } } },
      run: async () => 'nothing there',
    });
    const runner = client.beta.messages.toolRunner({
      model: 'policy',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'q' }],
      tools: [look],
      stream,
    });
    const last = await runner.runUntilDone();
    assert.deepEqual(
      last.content.map((block) => block.type === 'text' && block.text),
      ['done'],
    );
    assert.deepEqual(await parents(attempt), [false, true]);
    const { attempted_call_ids: calls } = (await stack.control('GET', `/ledger/${attempt}`)).json.manifest;
    assert.equal(calls.length, 2);
  });
