import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import OpenAI from 'openai';
import type { EngineAnswer } from '../../../../src/protocol/conversation.ts';
import { responses } from '../../../../src/protocol/responses/index.ts';
import { anyAnswer } from '../../../support/answers.ts';
import {
  convert,
  engineAnswer,
  type JsonObject,
  REPLY,
  type ServedResponse,
} from '../../../support/responses-dialect.ts';

/** The published client and its accumulator, fed with our streams. */

const REQUEST = convert({
  model: 'asked-model',
  stream: true,
  include: ['reasoning.encrypted_content'],
  input: 'hi',
  tools: [
    { type: 'custom', name: 'Bash' },
    { type: 'namespace', name: 'mcp__server', tools: [{ type: 'function', name: 'tool' }] },
  ],
});

function rendered(answer: EngineAnswer): { readonly json: ServedResponse; readonly stream: Buffer } {
  const reply = responses.render(REQUEST, answer, REPLY);
  return { json: JSON.parse(reply.json.toString('utf8')), stream: responses.stream(REQUEST, answer, reply, REPLY) };
}

/** The client, answered with these bytes in chunks of the given sizes, whatever they cut. */
function client(bytes: Buffer, sizes: readonly number[]): OpenAI {
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
  return new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9', fetch: async () => response });
}

async function finalResponse(bytes: Buffer, sizes: readonly number[] = [4096]): Promise<unknown> {
  return withoutAdditions(
    await client(bytes, sizes).responses.stream({ model: 'asked-model', input: 'hi' }).finalResponse(),
  );
}

/** The accumulated object without what the client adds on its own account. */
function withoutAdditions(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, member) =>
    key === 'output_text' || key === 'output_parsed' || key === 'parsed' || key === 'parsed_arguments'
      ? undefined
      : member,
  );
}

const chunkSizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 5 });

test("the client's own accumulator makes the JSON reply of the stream, for 1,000 random answers", async () => {
  await fc.assert(
    fc.asyncProperty(anyAnswer(), chunkSizes, async (answer, sizes) => {
      const { json, stream } = rendered(answer);
      assert.deepEqual(await finalResponse(stream, sizes), json);
    }),
    { numRuns: 1000 },
  );
});

/** The stream of a client that got neither the finished items nor the final object: what the deltas alone say. */
function deltasOnly(stream: Buffer): Buffer {
  const frames = stream.toString('utf8').split('\n\n').slice(0, -1);
  const last = JSON.parse((frames.at(-1) as string).split('\ndata: ')[1] as string);
  delete last.response.output;
  const kept = frames.slice(0, -1).filter((frame) => !frame.startsWith('event: response.output_item.done'));
  kept.push(`event: response.incomplete\ndata: ${JSON.stringify({ ...last, type: 'response.incomplete' })}`);
  return Buffer.from(`${kept.join('\n\n')}\n\n`);
}

test('the deltas alone build the same items, for 300 random answers', async () => {
  const said = ({ status: _status, encrypted_content: _sealed, ...item }: JsonObject) => item;
  await fc.assert(
    fc.asyncProperty(anyAnswer(), async (answer) => {
      const { json, stream } = rendered(answer);
      const built = (await finalResponse(deltasOnly(stream))) as ServedResponse;
      assert.deepEqual(built.output.map(said), json.output.map(said));
    }),
    { numRuns: 300 },
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
    const toolCalls = [
      { id: 'call_1', name: 'f', arguments: JSON.stringify({ text }) },
      { id: 'call_2', name: 'Bash', arguments: JSON.stringify({ input: text }) },
    ];
    const reasoning = text === '' ? null : text;
    const { json, stream } = rendered(engineAnswer({ content: text, reasoning, toolCalls }));
    assert.deepEqual(await finalResponse(stream), json);
  });

test('a client that iterates over the events gets them all, whole', async () => {
  const { json, stream } = rendered(
    engineAnswer({ reasoning: 'r', toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] }),
  );
  const events = [];
  for await (const event of await client(stream, [7]).responses.create({ model: 'm', input: 'hi', stream: true }))
    events.push(event);
  const last = events.at(-1);
  assert.equal(last?.type, 'response.completed');
  assert.deepEqual(withoutAdditions(last?.type === 'response.completed' ? last.response : null), json);
});
