import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { CONVERTERS } from '../../../src/call/parse-call.ts';
import { type Dialect, type EngineAnswer, isRefusal } from '../../../src/protocol/conversation.ts';
import type { JsonNode } from '../../../src/protocol/json/json-node.ts';
import { parseJsonText } from '../../../src/protocol/json/parse-json.ts';
import { anyAnswer, objectText } from '../../support/answers.ts';
import { installPackages } from '../harness/packages.ts';

/** The AI SDK's own readers of streams give what its readers of JSON answers give, for the same random answer, in every dialect. */

const TURN = { role: 'user', content: 'go' };
const BODIES: Readonly<Record<Dialect, object>> = {
  responses: { model: 'm', input: [TURN], include: ['reasoning.encrypted_content'] },
  chat: { model: 'm', messages: [TURN] },
  messages: { model: 'm', max_tokens: 9, messages: [TURN] },
};
const REPLY = { callId: '0'.repeat(32), captured: true, chatReasoningKey: 'reasoning', hideReasoning: false } as const;
const CONVERSION = {
  captured: true,
  userAgent: 'test',
  allowChatTemplate: false,
  alwaysEncryptReasoning: false,
  hideReasoning: false,
  chatReasoningKey: 'reasoning',
} as const;

function served(dialect: Dialect, answer: EngineAnswer, stream: boolean): Buffer {
  const request = CONVERTERS[dialect].convert(
    parseJsonText(
      JSON.stringify({
        ...BODIES[dialect],
        stream,
        ...(dialect === 'chat' && stream ? { stream_options: { include_usage: true } } : {}),
      }),
    ) as JsonNode,
    CONVERSION,
  );
  assert.ok(!isRefusal(request));
  const reply = CONVERTERS[dialect].render(request, answer, REPLY);
  return stream ? CONVERTERS[dialect].stream(request, answer, reply, REPLY) : reply.json;
}

interface Part {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** What a person would see of an answer: text and reasoning (where a refusal begins a text of its own the readers do not agree), calls, how it ended, what it cost. */
interface Seen {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: string[];
  readonly finish: unknown;
  readonly usage: unknown;
}

function ofContent(content: readonly Part[], finish: unknown, usage: unknown): Seen {
  return {
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    reasoning: content.map((part) => (part.type === 'reasoning' ? part.text : '')).join(''),
    calls: content.flatMap((part) =>
      part.type === 'tool-call' ? [`${part.toolCallId} ${part.toolName} ${spelled(part.input)}`] : [],
    ),
    finish,
    usage,
  };
}

/** Arguments by value: the reader of Messages' JSON answers writes the object that it was given. */
function spelled(input: unknown): string {
  return JSON.stringify(JSON.parse(String(input)));
}

async function ofStream(stream: AsyncIterable<Part>): Promise<Seen> {
  const parts: {
    type: string;
    id: unknown;
    text: string;
    toolCallId?: unknown;
    toolName?: unknown;
    input?: unknown;
  }[] = [];
  let last: Part | undefined;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-start' || part.type === 'reasoning-start') {
      parts.push({ type: part.type.slice(0, -6), id: part.id, text: '' });
    } else if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const open = parts.findLast(({ type, id }) => type === part.type.slice(0, -6) && id === part.id);
      assert.ok(open, `${part.type} of a part that was never opened`);
      open.text += part.delta;
    } else if (part.type === 'tool-call') {
      parts.push({
        type: part.type,
        id: null,
        text: '',
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        input: part.input,
      });
    } else if (part.type === 'finish') last = part;
  }
  return ofContent(parts, last?.finishReason, last?.usage);
}

describe('AI SDK', () => {
  type Model = {
    doGenerate(options: object): Promise<{ content: Part[]; finishReason: unknown; usage: unknown }>;
    doStream(options: object): Promise<{ stream: AsyncIterable<Part> }>;
  };
  const models = new Map<string, { dialect: Dialect; model: Model }>();
  let answer: EngineAnswer;
  before(async () => {
    const packages = await installPackages('sdk');
    const reader = (dialect: Dialect) => ({
      apiKey: 'none',
      baseURL: 'http://nowhere.invalid/v1',
      fetch: async (_url: string, init: { body: string }) => {
        const stream = JSON.parse(init.body).stream === true;
        const type = stream ? 'text/event-stream' : 'application/json';
        return new Response(new Uint8Array(served(dialect, answer, stream)), { headers: { 'content-type': type } });
      },
    });
    const { createOpenAI } = await import(packages.url('@ai-sdk/openai'));
    const { createOpenAICompatible } = await import(packages.url('@ai-sdk/openai-compatible'));
    const { createAnthropic } = await import(packages.url('@ai-sdk/anthropic'));
    models.set('openai responses', { dialect: 'responses', model: createOpenAI(reader('responses')).responses('m') });
    models.set('openai chat', { dialect: 'chat', model: createOpenAI(reader('chat')).chat('m') });
    models.set('openai-compatible', {
      dialect: 'chat',
      model: createOpenAICompatible({ ...reader('chat'), name: 'gym', includeUsage: true }).chatModel('m'),
    });
    models.set('anthropic', { dialect: 'messages', model: createAnthropic(reader('messages'))('m') });
  });

  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'go' }] }];
  for (const name of ['openai responses', 'openai chat', 'openai-compatible', 'anthropic']) {
    test(`${name}: 1,000 random answers, streamed and not`, async () => {
      const { model } = models.get(name) as { model: Model };
      await fc.assert(
        fc.asyncProperty(anyAnswer({ callArguments: objectText }), async (random) => {
          answer = random;
          const generated = await model.doGenerate({ prompt });
          const { stream } = await model.doStream({ prompt });
          assert.deepEqual(
            await ofStream(stream),
            ofContent(generated.content, generated.finishReason, generated.usage),
          );
        }),
        { numRuns: 1000 },
      );
    });
  }
});
