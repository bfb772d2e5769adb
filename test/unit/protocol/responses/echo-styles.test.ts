import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evidenceOf } from '../../../../src/lineage/evidence.ts';
import { chat } from '../../../../src/protocol/chat/index.ts';
import type { AssistantMessage, EngineAnswer, EngineMessage } from '../../../../src/protocol/conversation.ts';
import { anyAnswer } from '../../../support/answers.ts';
import { anyRequest as anyChatRequest } from '../../../support/chat-conversion.ts';
import {
  anyRequest,
  convert,
  engineAnswer,
  type JsonObject,
  REPLY,
  render,
  type ServedResponse,
} from '../../../support/responses-dialect.ts';
import { ECHO_STYLES, type EchoStyle } from '../../../support/responses-echo.ts';

/** Random answers, served and echoed: the same turn in every style that is one, another one in every style that is a rewrite. */

const TOOLS = [
  { type: 'custom', name: 'Bash' },
  { type: 'namespace', name: 'mcp__server', tools: [{ type: 'function', name: 'tool' }] },
];
const REQUEST = { include: ['reasoning.encrypted_content'], tools: TOOLS };

function serve(answer: EngineAnswer): { readonly turn: AssistantMessage; readonly output: readonly JsonObject[] } {
  const reply = render(anyRequest(REQUEST), answer);
  return { turn: reply.turn, output: (JSON.parse(reply.json.toString()) as ServedResponse).output };
}

/** The messages of the request that echoes these items and goes on. */
function goOn(items: readonly object[]): readonly EngineMessage[] {
  return convert({ model: 'm', ...REQUEST, input: [{ role: 'user', content: 'q' }, ...items, ...outputs(items)] })
    .messages;
}

function outputs(items: readonly object[]): object[] {
  const calls = items.filter((item) => 'call_id' in item) as { type: string; call_id: string }[];
  if (calls.length === 0) return [{ role: 'user', content: 'next' }];
  return calls.map(({ type, call_id }) =>
    type === 'tool_search_call'
      ? { type: 'tool_search_output', call_id, tools: [] }
      : { type: `${type}_output`, call_id, output: 'done' },
  );
}

const digest = (message: EngineMessage) => evidenceOf(message, 'required').digest;

for (const [name, style] of Object.entries(ECHO_STYLES))
  test(`${name}: the same turn`, () => {
    fc.assert(
      fc.property(anyAnswer(), (answer) => {
        const { turn, output } = serve(answer);
        const [, ...after] = goOn(style(output));
        // An answer without items leaves nothing to echo.
        if (output.length > 0) assert.equal(digest(after.shift() as EngineMessage), digest(turn));
        assert.equal(
          after.some((message) => message.role === 'assistant'),
          false,
          'the turn is one message',
        );
      }),
      { numRuns: 200 },
    );
  });

test('the ids of an echo are those of the served items and calls', () => {
  fc.assert(
    fc.property(anyAnswer(), (answer) => {
      const { turn, output } = serve(answer);
      const ids = output.flatMap((item) => [item.id, ...(item.call_id === undefined ? [] : [item.call_id])]);
      assert.deepEqual([...turn.echoedIds], ids);
    }),
  );
});

const REWRITES: Readonly<Record<string, EchoStyle>> = {
  'reasoning left out': (output) => output.filter((item) => item.type !== 'reasoning'),
  'message left out': (output) => output.filter((item) => item.type !== 'message'),
  'last item left out': (output) => output.slice(0, -1),
  'calls renamed': (output) => output.map((item) => ('name' in item ? { ...item, name: 'invalid' } : item)),
  'call ids changed': (output) => output.map((item) => ('call_id' in item ? { ...item, call_id: 'other' } : item)),
  'reasoning doubled': (output) => output.flatMap((item) => (item.type === 'reasoning' ? [item, item] : [item])),
};

for (const [name, rewrite] of Object.entries(REWRITES))
  test(`${name}: another turn`, () => {
    fc.assert(
      fc.property(anyAnswer(), (answer) => {
        const { turn, output } = serve(answer);
        const items = rewrite(output);
        fc.pre(JSON.stringify(items) !== JSON.stringify(output));
        const messages = goOn(items);
        const echoed = messages.filter((message) => message.role === 'assistant');
        assert.equal(echoed.length === 1 && digest(echoed[0] as EngineMessage) === digest(turn), false);
      }),
      { numRuns: 100 },
    );
  });

test('a tool search: the same turn in the styles of all clients', () => {
  const tools = [{ type: 'tool_search', execution: 'client' }];
  const deep = `{"a":${'['.repeat(509)}${']'.repeat(509)}}`;
  for (const args of ['{ "query": "q", "n": 1.0 }', '', '{bad', '"text"', '{"a":"\ud83d"}', deep]) {
    const reply = render(
      anyRequest({ tools }),
      engineAnswer({ toolCalls: [{ id: 'c', name: 'tool_search', arguments: args }] }),
    );
    const { output } = JSON.parse(reply.json.toString()) as ServedResponse;
    for (const style of Object.values(ECHO_STYLES))
      assert.equal(digest(goOn(style(output))[1] as EngineMessage), digest(reply.turn), args);
  }
});

test('white space at the ends of a text counts', () => {
  const { turn, output } = serve(engineAnswer({ content: '  Let me look. \n' }));
  const trimmed = output.map((item) => ({ ...item, content: [{ type: 'output_text', text: 'Let me look.' }] }));
  assert.notEqual(digest(goOn(trimmed)[1] as EngineMessage), digest(turn));
});

test('the turn of an answer is the same in Chat', () => {
  const plain = anyRequest();
  const chatRequest = anyChatRequest();
  fc.assert(
    fc.property(anyAnswer(), (answer) => {
      // The text "" beside calls is echoed by Chat and cannot be by Responses; the second digest is for it.
      fc.pre(answer.content !== '' || answer.toolCalls.length === 0);
      fc.pre(answer.refusal === null || answer.content !== '');
      const ours = evidenceOf(render(plain, answer).turn, 'required');
      assert.equal(ours.digest, evidenceOf(chat.render(chatRequest, answer, REPLY).turn, 'required').digest);
    }),
    { numRuns: 300 },
  );
});
