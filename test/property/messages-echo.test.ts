import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { evidenceOf } from '../../src/lineage/evidence.ts';
import type { EngineAnswer, EngineMessage } from '../../src/protocol/conversation.ts';
import { messages } from '../../src/protocol/messages/index.ts';
import { anyAnswer, objectText } from '../support/answers.ts';
import { convert, REPLY } from '../support/messages-dialect.ts';
import { ECHO_STYLES } from '../support/messages-echoes.ts';

const REQUEST = convert({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });

/** The assistant message of a request that goes on after this echo. */
function echoed(turn: string, next = '"next"'): EngineMessage {
  const user = (content: string) => `{"role":"user","content":${content}}`;
  const request = convert(`{"model":"m","messages":[${user('"hi"')},${turn},${user(next)}]}`);
  return request.messages[1] as EngineMessage;
}

/** Numbers beyond a double are changed by JavaScript clients (C144), which is a rewrite. */
const withinDoubles = (answer: EngineAnswer) => answer.toolCalls.every((call) => !call.arguments.includes('e400'));
const answers = anyAnswer({ callArguments: objectText }).filter(withinDoubles);

describe('a served turn that comes back in the style of a client is the same turn', () => {
  for (const [style, echo] of Object.entries(ECHO_STYLES))
    test(style, () => {
      fc.assert(
        fc.property(answers, (answer) => {
          const reply = messages.render(REQUEST, answer, REPLY);
          const turn = echoed(echo(reply));
          for (const policy of ['required', 'optional', 'hidden'] as const)
            assert.deepEqual(evidenceOf(turn, policy), evidenceOf(reply.turn, policy));
        }),
        { numRuns: 150 },
      );
    });

  test('with arguments that are no JSON objects, as served', () => {
    fc.assert(
      fc.property(anyAnswer(), (answer) => {
        const reply = messages.render(REQUEST, answer, REPLY);
        const turn = echoed(ECHO_STYLES['the served bytes']?.(reply) ?? '');
        assert.deepEqual(evidenceOf(turn, 'required'), evidenceOf(reply.turn, 'required'));
      }),
      { numRuns: 300 },
    );
  });

  test('hidden reasoning is in neither', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        const reply = messages.render(REQUEST, answer, { ...REPLY, hideReasoning: true });
        assert.equal(reply.turn.reasoning, null);
      }),
      { numRuns: 50 },
    );
  });
});

describe('what the turn says is what the engine said', () => {
  test('text, reasoning, calls and the values of their arguments', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        const { turn } = messages.render(REQUEST, answer, REPLY);
        const said = (answer.content ?? '') + (answer.refusal ?? '');
        assert.equal(turn.content ?? '', said);
        assert.equal(turn.reasoning, answer.reasoning);
        assert.deepEqual(
          turn.toolCalls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) })),
          answer.toolCalls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments || '{}') })),
        );
      }),
      { numRuns: 300 },
    );
  });
});
