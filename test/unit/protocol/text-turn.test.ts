import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evidenceOf } from '../../../src/lineage/evidence.ts';
import { CONVERTERS, servedTurn } from '../../../src/lineage/served-turn.ts';
import type { EngineAnswer } from '../../../src/protocol/conversation.ts';
import { isRefusal } from '../../../src/protocol/conversation.ts';
import { onlyTextOf } from '../../../src/protocol/text-turn.ts';
import { CAPTURED, json, REPLY } from '../../support/chat-conversion.ts';

const ANSWER: EngineAnswer = {
  id: 'chatcmpl-1',
  model: 'm',
  createdS: 1,
  content: 'text',
  reasoning: null,
  refusal: null,
  toolCalls: [],
  finishReason: 'stop',
  usage: null,
};
const REQUESTS = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'q' }] },
  responses: { model: 'm', input: 'q' },
  messages: { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'q' }] },
} as const;
const TEXTS = ['text', ' \n padded \t', '"quoted" \\ and \u2028', 'caf\u00e9 \u{1f600}', 'lone \ud800', '0', '{}'];

for (const dialect of ['chat', 'responses', 'messages'] as const) {
  test(`${dialect}: the turn of a text is what a faithful echo of the reply converts to`, () => {
    const body = json(REQUESTS[dialect]);
    const request = CONVERTERS[dialect].convert(body, CAPTURED);
    assert.ok(!isRefusal(request));
    for (const content of TEXTS) {
      for (const finishReason of ['stop', 'length', 'content_filter']) {
        const reply = CONVERTERS[dialect].render(request, { ...ANSWER, content, finishReason }, REPLY);
        const [echoed, ...more] = servedTurn(dialect, body, json(reply.json.toString()));
        assert.deepEqual(more, []);
        assert.ok(echoed !== undefined);
        const { role, content: text, reasoning, refusal, toolCalls, echoedIds } = reply.turn;
        const { verbatim: _, memo: __, ...expected } = echoed;
        assert.deepEqual({ role, content: text, reasoning, refusal, toolCalls, echoedIds }, expected);
        assert.deepEqual(evidenceOf(reply.turn, 'required'), evidenceOf(echoed, 'required'));
      }
    }
  });
}

test('only an answer of one text that says something counts', () => {
  assert.equal(onlyTextOf(ANSWER), 'text');
  const call = { id: 'c', name: 'f', arguments: '{}' };
  for (const other of [
    { content: null },
    { content: '' },
    { content: ' \n' },
    { reasoning: 'r' },
    { refusal: 'r' },
    { toolCalls: [call] },
  ])
    assert.equal(onlyTextOf({ ...ANSWER, ...other }), null);
});
