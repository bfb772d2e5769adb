import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chat } from '../../../../src/protocol/chat/index.ts';
import type { ConvertedRequest, EngineAnswer, ReplyOptions } from '../../../../src/protocol/conversation.ts';
import { accumulateChat } from '../../../support/chat-client.ts';
import { anyRequest, engineAnswer, REPLY } from '../../../support/chat-conversion.ts';

const WITH_USAGE = anyRequest({ stream: true, stream_options: { include_usage: true } });
const PLAIN = anyRequest({ stream: true });

function streamed(
  answer: Partial<EngineAnswer>,
  request: ConvertedRequest = WITH_USAGE,
  options: ReplyOptions = REPLY,
) {
  const full = engineAnswer(answer);
  const reply = chat.render(request, full, options);
  return { bytes: chat.stream(request, full, reply, options), completion: JSON.parse(reply.json.toString()) };
}

/** The data of each frame; every frame is one line. */
function frames(bytes: Buffer): string[] {
  const text = bytes.toString();
  assert.ok(text.endsWith('\n\n'));
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((frame) => {
      assert.ok(frame.startsWith('data: ') && !frame.includes('\n'), frame);
      return frame.slice('data: '.length);
    });
}

test('the frames of a whole answer, in order', () => {
  const answer = {
    content: 'hi',
    reasoning: 'r',
    toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }],
    finishReason: 'tool_calls',
  };
  const data = frames(streamed(answer).bytes);
  assert.equal(data.at(-1), '[DONE]');
  const chunks = data.slice(0, -1).map((text) => JSON.parse(text));
  for (const chunk of chunks) {
    assert.deepEqual(Object.keys(chunk), ['id', 'object', 'created', 'model', 'choices', 'usage']);
    assert.deepEqual(
      [chunk.id, chunk.object, chunk.created, chunk.model],
      ['chatcmpl-1', 'chat.completion.chunk', 1_700_000_000, 'm'],
    );
  }
  const choice = (delta: object, finish: string | null = null) => [
    { index: 0, delta, logprobs: null, finish_reason: finish },
  ];
  assert.deepEqual(
    chunks.map((chunk) => chunk.choices),
    [
      choice({ role: 'assistant', content: '' }),
      choice({ reasoning: 'r' }),
      choice({ content: 'hi' }),
      choice({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      choice({}, 'tool_calls'),
      [],
    ],
  );
  assert.deepEqual(
    chunks.map((chunk) => chunk.usage?.total_tokens ?? null),
    [null, null, null, null, null, null, 15],
  );
});

test('usage only where it was asked for', () => {
  const data = frames(streamed({}, PLAIN).bytes);
  assert.equal(data.filter((text) => text.includes('usage')).length, 0);
  assert.equal(data.length, 4);
});

test('an empty answer is a role, a finish and an end', () => {
  const data = frames(streamed({ content: null }, PLAIN).bytes);
  assert.deepEqual(
    data.slice(0, 2).map((text) => JSON.parse(text).choices[0].delta),
    [{ role: 'assistant', content: '' }, {}],
  );
  assert.equal(data.length, 3);
});

test('parallel calls count up, id and name on the first delta of each only', () => {
  const args = '{"a":1}';
  const toolCalls = ['x', 'y', 'z'].map((id) => ({ id, name: `f${id}`, arguments: args }));
  const deltas = frames(streamed({ content: null, toolCalls }, PLAIN).bytes)
    .slice(1, -2)
    .map((text) => JSON.parse(text).choices[0].delta.tool_calls[0]);
  assert.deepEqual(
    deltas,
    ['x', 'y', 'z'].flatMap((id, index) => [
      { index, id, type: 'function', function: { name: `f${id}`, arguments: '' } },
      { index, function: { arguments: args } },
    ]),
  );
});

test('custom calls stream as custom calls', () => {
  const request = anyRequest({ tools: [{ type: 'custom', custom: { name: 'exec' } }] });
  const toolCalls = [{ id: 'c', name: 'exec', arguments: '{"input":"ls"}' }];
  const deltas = frames(streamed({ content: null, toolCalls }, request).bytes)
    .slice(1, -2)
    .map((text) => JSON.parse(text).choices[0].delta.tool_calls[0]);
  assert.deepEqual(deltas, [
    { index: 0, id: 'c', type: 'custom', custom: { name: 'exec', input: '' } },
    { index: 0, custom: { input: 'ls' } },
  ]);
});

test('no client can take a character of a text for the end of a line', () => {
  const text = 'a\u2028b\u2029c\u0085d\r\ne\ud83d';
  const { bytes } = streamed({ content: text, reasoning: text }, PLAIN);
  for (const breaker of ['\u2028', '\u2029', '\u0085', '\r']) assert.ok(!bytes.includes(breaker));
  assert.equal(bytes.toString().isWellFormed(), true);
});

const unit = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
  fc.constantFrom(
    '😀',
    '👩‍👩‍👧',
    '\u2028',
    '\u2029',
    '\u0085',
    '\0',
    '\r\n',
    '"',
    '\\',
    '\ud83d',
    '\ude00',
    'data: x',
    ' ',
  ),
);
const text = fc.oneof(fc.string({ unit, maxLength: 20 }), fc.string({ unit, minLength: 60, maxLength: 400 }));
const call = fc.record({
  id: fc.string({ minLength: 1 }),
  name: fc.string({ minLength: 1 }),
  arguments: fc.oneof(text, fc.json()),
});
const answers = fc.record({
  content: fc.option(text),
  reasoning: fc.option(text.filter((words) => words.trim() !== '')),
  refusal: fc.option(
    text.filter((words) => words !== ''),
    { freq: 8 },
  ),
  toolCalls: fc.array(call, { maxLength: 3 }),
  finishReason: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
  usage: fc.option(
    fc.record({
      promptTokens: fc.nat(),
      completionTokens: fc.nat(),
      cachedTokens: fc.nat(),
      reasoningTokens: fc.nat(),
    }),
  ),
});

async function sameAsJson(
  answer: Partial<EngineAnswer>,
  key: ReplyOptions['chatReasoningKey'],
  networkChunk: number,
): Promise<void> {
  const { bytes, completion } = streamed(answer, WITH_USAGE, { ...REPLY, chatReasoningKey: key });
  const { completion: put, chunks } = await accumulateChat(bytes, networkChunk);
  const message = completion.choices[0].message;
  const putMessage = put.choices[0]?.message;
  assert.equal(putMessage?.role, 'assistant');
  // The accumulator makes null of an empty text.
  assert.equal(putMessage.content ?? '', message.content ?? '');
  assert.equal(putMessage.refusal ?? null, message.refusal);
  assert.deepEqual(
    (putMessage.tool_calls ?? []).map((one) => ({
      id: one.id,
      type: one.type,
      function: 'function' in one ? { name: one.function.name, arguments: one.function.arguments } : null,
    })),
    message.tool_calls ?? [],
  );
  assert.equal(put.choices[0]?.finish_reason, completion.choices[0].finish_reason);
  assert.deepEqual(put.usage, completion.usage);
  assert.deepEqual(
    [put.id, put.model, put.created, put.object],
    [completion.id, completion.model, completion.created, completion.object],
  );
  for (const name of ['reasoning', 'reasoning_content']) {
    // No member of the published type: the accumulator keeps the last delta of it.
    assert.equal((putMessage as unknown as Record<string, string>)[name] ?? '', message[name] ?? '');
    assert.equal(
      chunks.map((chunk) => (chunk.choices[0]?.delta as Record<string, string> | undefined)?.[name] ?? '').join(''),
      message[name] ?? '',
    );
  }
  assert.equal((chunks[0]?.choices[0]?.delta.content ?? null) === null, message.content === null);
}

test('put together by the official client, a stream is the JSON reply: 1,000 random answers', async () => {
  await fc.assert(
    fc.asyncProperty(
      answers,
      fc.constantFrom('reasoning', 'reasoning_content', 'both'),
      fc.integer({ min: 16, max: 3000 }),
      (answer, key, chunk) => sameAsJson(answer, key, chunk),
    ),
    { numRuns: 1000 },
  );
});

test('so it is for texts of a megabyte', async () => {
  const long = '😀 é\u2028\n'.repeat(150_000);
  await sameAsJson(
    { content: long, reasoning: long, toolCalls: [{ id: 'c', name: 'f', arguments: JSON.stringify({ long }) }] },
    'reasoning',
    65_536,
  );
});
