import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallFacts } from '../../../src/reference-worker/match.ts';
import { ScriptedModel } from '../../../src/reference-worker/model.ts';

const facts: CallFacts = {
  route: 'chat',
  attempt: 'a',
  modelCallId: 'c1',
  model: 'policy',
  callIndex: 0,
  attemptIndex: 0,
  turn: 0,
  lastText: 'please look',
  lastRole: 'user',
  hasTools: false,
};
const say = (model: ScriptedModel, change: Partial<CallFacts> = {}) =>
  model.answer({ ...facts, ...change }, []).content;

describe('the script', () => {
  test('answers come in order, each once, then the echo', () => {
    const model = new ScriptedModel();
    model.load({ answers: [{ content: 'one' }, { content: 'two', times: 2 }] });
    assert.equal(model.remaining(), 3);
    assert.deepEqual([say(model), say(model), say(model)], ['one', 'two', 'two']);
    assert.equal(model.remaining(), 0);
    assert.match(String(say(model)), /^Echo of message 0: please look$/);
  });

  test('an answer waits for a call that it is for', () => {
    const model = new ScriptedModel();
    model.load({ answers: [{ when: { attempt: 'b' }, content: 'for b' }, { content: 'for all' }] });
    assert.equal(say(model), 'for all');
    assert.equal(say(model, { attempt: 'b' }), 'for b');
    assert.match(String(say(model, { attempt: 'b' })), /^Echo/);
  });

  test('rules come first, hit again and again, and use up no answer', () => {
    const model = new ScriptedModel();
    model.load({ answers: [{ content: 'main' }], rules: [{ when: { contains: 'title' }, content: 'a title' }] });
    assert.equal(say(model, { lastText: 'make a title' }), 'a title');
    assert.equal(say(model, { lastText: 'make a title' }), 'a title');
    assert.equal(say(model), 'main');
  });

  test('a new script replaces the old one, unless it is added', () => {
    const model = new ScriptedModel();
    model.load({ answers: [{ content: 'old' }] });
    model.load({ answers: [{ content: 'new' }] });
    model.load({ answers: [{ content: 'more' }], replace: false });
    assert.deepEqual([say(model), say(model)], ['new', 'more']);
  });

  test('what a script leaves out gets the value of an engine', () => {
    const model = new ScriptedModel();
    model.load({
      answers: [
        {
          tool_calls: [
            { name: 'f', arguments: { a: 1 } },
            { name: 'g', id: 'x', arguments: '{bad' },
          ],
        },
        {},
      ],
    });
    assert.deepEqual(model.answer(facts, []), {
      content: null,
      reasoning: null,
      refusal: null,
      toolCalls: [
        { id: null, name: 'f', arguments: '{"a":1}' },
        { id: 'x', name: 'g', arguments: '{bad' },
      ],
      finishReason: undefined,
      usage: undefined,
      tokenIds: undefined,
      logprob: undefined,
      completionId: undefined,
      delayMs: 0,
    });
    assert.equal(say(model), '');
  });

  test('a script that is not understood is refused as a whole', () => {
    const model = new ScriptedModel();
    assert.throws(() => model.load({ answers: [{ contents: 'typo' } as object] }));
    assert.equal(model.remaining(), 0);
  });
});

describe('the echo', () => {
  test('is the same for the same conversation and another one for a longer history', () => {
    const model = new ScriptedModel();
    const user = { role: 'user' as const, content: 'x' };
    const first = model.answer(facts, [user]).content;
    assert.equal(first, 'Echo of message 1: please look');
    assert.equal(model.answer({ ...facts, callIndex: 9, attempt: 'b' }, [user]).content, first);
    assert.equal(model.answer(facts, [user, user]).content, 'Echo of message 2: please look');
  });

  test('never repeats half a character', () => {
    const heard = `${'x'.repeat(199)}🦊`;
    assert.equal(say(new ScriptedModel(), { lastText: heard })?.isWellFormed(), true);
  });
});
