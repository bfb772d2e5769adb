import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChatMessage } from '../../../src/reference-worker/chat-body.ts';
import { plainRenderer, templateRenderer } from '../../../src/reference-worker/render.ts';
import { createTokenizer, SPECIAL_TOKENS as T } from '../../../src/reference-worker/tokenizer.ts';

const words = ['sys', 'task', 'think', 'say', 'f {"a":1}', 'seen', 'next'];
const id = (word: string) => 101 + words.indexOf(word);
const tokenizer = createTokenizer(new Map(words.map((word) => [word, [id(word)]])));
const template = templateRenderer(tokenizer, { reasoning: 'keep' });

const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{"a":1}' } };
const history: ChatMessage[] = [
  { role: 'system', content: 'sys' },
  { role: 'user', content: 'task' },
  { role: 'assistant', content: 'say', reasoning: 'think', tool_calls: [call] },
  { role: 'tool', content: 'seen' },
  { role: 'user', content: [{ type: 'text', text: 'next' }] },
];

describe('the template', () => {
  test('role markers, reasoning, calls, e behind every message, generation prompt', () => {
    assert.deepEqual(template.render({ messages: history }, true).tokens, [
      ...[T.begin, T.system, id('sys'), T.end, T.user, id('task'), T.end],
      ...[T.assistant, T.reasoning, id('think'), T.reasoningEnd, id('say'), T.toolCall, id('f {"a":1}'), T.end],
      ...[T.tool, id('seen'), T.end, T.user, id('next'), T.end, T.assistant],
    ]);
  });

  test('without generation prompt it ends with e', () => {
    assert.equal(template.render({ messages: history }, false).tokens.at(-1), T.end);
  });

  test('null and "" render alike, as the renderer says of itself', () => {
    assert.equal(template.rendersNullAsEmpty, true);
    const turn = (content: string | null): ChatMessage => ({ role: 'assistant', content, tool_calls: [call] });
    assert.deepEqual(
      template.render({ messages: [turn(null)] }, true),
      template.render({ messages: [turn('')] }, true),
    );
  });

  test('a developer message is a system message; both names of reasoning are read; white space is none', () => {
    const one = (message: ChatMessage) => template.render({ messages: [message] }, false).tokens;
    assert.deepEqual(one({ role: 'developer', content: 'sys' }), one({ role: 'system', content: 'sys' }));
    const turn = { role: 'assistant' as const, content: 'say' };
    assert.deepEqual(one({ ...turn, reasoning: 'think' }), one({ ...turn, reasoning_content: 'think' }));
    assert.deepEqual(one({ ...turn, reasoning: ' \n' }), one(turn));
  });

  test('tools and documents change the prompt', () => {
    const messages = history.slice(1, 2);
    const plain = template.render({ messages }, true).tokens;
    const withTools = template.render({ messages, tools: [{ type: 'function' }] }, true).tokens;
    const withDocuments = template.render({ messages, documents: ['x'] }, true).tokens;
    assert.deepEqual(withTools.slice(-4), plain.slice(-4));
    assert.ok(withTools.length > plain.length);
    assert.notDeepEqual(withTools, withDocuments);
    assert.deepEqual(template.render({ messages, tools: [] }, true).tokens, plain);
  });

  test('drop_earlier leaves out reasoning before the last user message only', () => {
    const dropping = templateRenderer(tokenizer, { reasoning: 'drop_earlier' });
    const thoughts = (messages: ChatMessage[]) =>
      dropping.render({ messages }, false).tokens.filter((token) => token === T.reasoning).length;
    assert.equal(thoughts(history.slice(0, 4)), 1);
    assert.equal(thoughts(history), 0);
  });

  test('images and videos become runs of media tokens with their spans', () => {
    const png = Buffer.alloc(24);
    png.write('\x89PNG', 'latin1');
    png.writeUInt32BE(640, 16);
    png.writeUInt32BE(480, 20);
    const { tokens, media } = template.render(
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
              { type: 'text', text: 'task' },
              { type: 'video_url', video_url: { url: 'https://example.test/v.mp4' } },
            ],
          },
        ],
      },
      false,
    );
    assert.deepEqual(media, [
      { modality: 'image', start: 2, length: 4, height: 480, width: 640 },
      { modality: 'video', start: 7, length: 8, height: 448, width: 448, frames: 2 },
    ]);
    for (const { start, length } of media) {
      assert.deepEqual(tokens.slice(start, start + length), new Array(length).fill(T.media));
    }
    assert.equal(tokens[6], id('task'));
  });
});

test('an image that says it has no size gets the usual one', () => {
  const url = `data:image/png;base64,${Buffer.alloc(24).toString('base64')}`;
  const messages: ChatMessage[] = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  const [span] = template.render({ messages }, false).media;
  assert.deepEqual([span?.height, span?.width], [448, 448]);
});

describe('the stand-in without template', () => {
  test('texts one after the other, no markers, no end token, no tools', () => {
    const plain = plainRenderer(tokenizer);
    assert.equal(plain.eos, null);
    assert.deepEqual(plain.render({ messages: history, tools: [{}] }, true).tokens, [
      ...[id('sys'), id('task'), id('think'), id('say'), id('f {"a":1}'), id('seen'), id('next')],
    ]);
  });
});
