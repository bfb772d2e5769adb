import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import type { EngineAnswer } from '../../../../src/protocol/conversation.ts';
import { messages } from '../../../../src/protocol/messages/index.ts';
import { anyAnswer } from '../../../support/answers.ts';
import { ANSWER, convert, REPLY } from '../../../support/messages-dialect.ts';

const REQUEST = convert({
  model: 'asked-model',
  max_tokens: 9,
  stream: true,
  messages: [{ role: 'user', content: 'hi' }],
});
const PARAMS = { model: 'asked-model', max_tokens: 9, messages: [{ role: 'user' as const, content: 'hi' }] };

function rendered(answer: EngineAnswer): { readonly json: unknown; readonly stream: Buffer } {
  const reply = messages.render(REQUEST, answer, REPLY);
  return { json: JSON.parse(reply.json.toString('utf8')), stream: messages.stream(REQUEST, answer, reply, REPLY) };
}

/** The published client, answered with these bytes in chunks of the given sizes, whatever they cut. */
function client(bytes: Buffer, sizes: readonly number[]): Anthropic {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      let at = 0;
      for (let turn = 0; at < bytes.length; turn++) {
        const size = sizes[turn % sizes.length] as number;
        controller.enqueue(bytes.subarray(at, at + size));
        at += size;
      }
      controller.close();
    },
  });
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  return new Anthropic({ apiKey: 'none', baseURL: 'http://127.0.0.1:9', fetch: async () => response });
}

/** The accumulated object without what the client adds to it on its own account. */
function accumulated(final: object): unknown {
  const { parsed_output: _parsed, content, ...rest } = final as { parsed_output?: unknown; content: object[] };
  return { ...rest, content: content.map(({ parsed_output: _none, ...block }: { parsed_output?: unknown }) => block) };
}

const chunkSizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 5 });

test("the client's own accumulator makes the JSON reply of the stream, for 1,000 random answers", async () => {
  await fc.assert(
    fc.asyncProperty(anyAnswer(), chunkSizes, async (answer, sizes) => {
      const { json, stream } = rendered(answer);
      const final = await client(stream, sizes).messages.stream(PARAMS).finalMessage();
      assert.deepEqual(accumulated(final), json);
    }),
    { numRuns: 1000 },
  );
});

test('so does that of the beta client', async () => {
  await fc.assert(
    fc.asyncProperty(anyAnswer(), chunkSizes, async (answer, sizes) => {
      const { json, stream } = rendered(answer);
      const final = await client(stream, sizes).beta.messages.stream(PARAMS).finalMessage();
      assert.deepEqual(accumulated(final), json);
    }),
    { numRuns: 200 },
  );
});

const LONG: readonly (readonly [id: string, text: string])[] = [
  ['empty', ''],
  ['1 MB of ASCII', 'a'.repeat(1_000_000)],
  ['1 MB of emoji', '😀'.repeat(500_000)],
  ['1 MB of line separators and controls', '\u2028\u0000\r\n'.repeat(250_000)],
];
for (const [id, text] of LONG)
  test(`a text that is ${id}, in every place`, async () => {
    const call = { id: 'call_1', name: 'f', arguments: JSON.stringify({ text }) };
    const reasoning = text === '' ? null : text;
    const { json, stream } = rendered({ ...ANSWER, content: text, reasoning, toolCalls: [call] });
    const final = await client(stream, [65_537]).messages.stream(PARAMS).finalMessage();
    assert.deepEqual(accumulated(final), json);
    assert.ok(stream.length < 30 * text.length + 10_000, `${stream.length} bytes`);
  });
