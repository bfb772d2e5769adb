import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chat } from '../../../../src/protocol/chat/index.ts';
import { isRefusal } from '../../../../src/protocol/conversation.ts';
import { isAnswerProblem, parseEngineAnswer } from '../../../../src/protocol/engine-answer.ts';
import { joinFragments } from '../../../../src/protocol/json/fragment.ts';
import { DEFAULT_UPSTREAM_OPTIONS, upstreamMessage } from '../../../../src/protocol/upstream-body.ts';
import { CAPTURED, engineAnswer, json, REPLY, UNCAPTURED, upstreamText } from '../../../support/chat-conversion.ts';

/** Objects whose keys and values look like those of requests and answers, put together at random. */
const KEYS = [
  'role',
  'content',
  'type',
  'text',
  'tool_calls',
  'tool_call_id',
  'id',
  'function',
  'name',
  'arguments',
  'reasoning',
  'reasoning_content',
  'refusal',
  'image_url',
  'url',
  'detail',
  'custom',
  'input',
  'messages',
  'tools',
  'tool_choice',
  'model',
  'stream',
  'stream_options',
  'n',
  'stop',
  'prompt_token_ids',
  'ng_capture',
  'choices',
  'message',
  'finish_reason',
  'usage',
  'created',
  'allowed_tools',
  'mode',
  'parameters',
];
const WORDS = [
  'user',
  'assistant',
  'tool',
  'system',
  'developer',
  'function',
  'text',
  'image_url',
  'custom',
  'auto',
  'x',
  '',
  '{}',
  '{"a":1}',
  '{bad',
  '\ud83d',
];
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom(...WORDS),
    fc.constantFrom(null, true, false, 0, 1, -1.5),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 7 }),
  ),
}));
const object = fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 7 });
const message = fc
  .tuple(fc.constantFrom('user', 'assistant', 'tool', 'system', 'developer'), object)
  .map(([role, rest]) => ({ ...rest, role }));
const body = fc
  .tuple(object, fc.array(message, { minLength: 1, maxLength: 5 }))
  .map(([rest, messages]) => ({ ...rest, messages }));

test('any body is converted or refused in words, and what is converted is JSON', () => {
  let converted = 0;
  fc.assert(
    fc.property(fc.oneof(body, value), fc.constantFrom(CAPTURED, UNCAPTURED), (received, options) => {
      const request = chat.convert(json(JSON.stringify(received)), options);
      if (isRefusal(request)) {
        assert.ok(request.message.length > 10 && request.code !== '');
        assert.ok(request.param === null || request.message.startsWith(request.param));
        return;
      }
      converted++;
      const up = JSON.parse(upstreamText(request));
      assert.equal(up.messages.length, request.messages.length);
      const text = JSON.stringify(up.messages);
      for (const name of ['prompt_token_ids', 'ng_capture']) assert.ok(!text.includes(`"${name}":`));
    }),
    { numRuns: 3000 },
  );
  assert.ok(converted > 50, `only ${converted} bodies were accepted`);
});

test('client bytes say what a built message says', () => {
  let verbatim = 0;
  const part = fc.constantFrom(
    { type: 'text', text: 'a' },
    { type: 'image_url', image_url: { url: 'u' } },
    { type: 'text', text: '' },
  );
  const call = fc.constantFrom(
    { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1.0}' } },
    { id: 'c', type: 'function', function: { name: 'f', arguments: '' } },
    { id: '', type: 'function', function: { name: 'f', arguments: '{}' } },
  );
  const content = fc.oneof(fc.constantFrom('x', '', null), fc.array(part, { maxLength: 3 }));
  const name = fc.constantFrom('n', '', null);
  const plain = fc.oneof(
    fc.record(
      { role: fc.constantFrom('user', 'system', 'developer'), content, name },
      { requiredKeys: ['role', 'content'] },
    ),
    fc.record(
      { role: fc.constant('tool'), content, tool_call_id: fc.constantFrom('c', ''), name },
      { requiredKeys: ['role'] },
    ),
    fc.record(
      {
        role: fc.constant('assistant'),
        content,
        reasoning: fc.constantFrom('r', ' ', null),
        refusal: fc.constantFrom('no', '', null),
        tool_calls: fc.array(call, { maxLength: 2 }),
        name,
      },
      { requiredKeys: ['role'] },
    ),
  );
  fc.assert(
    fc.property(plain, (one) => {
      const request = chat.convert(json(JSON.stringify({ messages: [one] })), UNCAPTURED);
      if (isRefusal(request)) return;
      const [first] = request.messages;
      if (first?.verbatim === undefined) return;
      verbatim++;
      const built = joinFragments(upstreamMessage({ ...first, verbatim: undefined }, DEFAULT_UPSTREAM_OPTIONS));
      assert.deepEqual(JSON.parse(built.toString()), JSON.parse(JSON.stringify(one)));
    }),
    { numRuns: 3000 },
  );
  assert.ok(verbatim > 50, `only ${verbatim} messages went up as they are`);
});

test('any answer is read or is a problem in words, and what is read can be served', () => {
  let read = 0;
  const completion = fc
    .tuple(object, object)
    .map(([rest, inner]) => ({ id: 'x', ...rest, choices: [{ message: inner }] }));
  fc.assert(
    fc.property(fc.oneof(completion, value), (received) => {
      const answer = parseEngineAnswer(json(JSON.stringify(received)), { callId: REPLY.callId });
      if (isAnswerProblem(answer)) {
        assert.ok(answer.problem.length > 10);
        return;
      }
      read++;
      const request = chat.convert(json('{"messages":[{"role":"user","content":"q"}]}'), CAPTURED);
      assert.ok(!isRefusal(request));
      const reply = chat.render(request, answer, REPLY);
      assert.equal(JSON.parse(reply.json.toString()).choices.length, 1);
      assert.ok(chat.stream(request, answer, reply, REPLY).toString().endsWith('data: [DONE]\n\n'));
    }),
    { numRuns: 3000 },
  );
  assert.ok(read > 50, `only ${read} answers were read`);
});

test('the same call renders the same bytes, every time', () => {
  const request = chat.convert(json('{"messages":[{"role":"user","content":"q"}]}'), CAPTURED);
  assert.ok(!isRefusal(request));
  const answer = engineAnswer({ reasoning: 'r' });
  assert.deepEqual(chat.render(request, answer, REPLY).json, chat.render(request, answer, REPLY).json);
});
