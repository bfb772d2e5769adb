import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Generation, generate } from '../../../src/reference-worker/generate.ts';
import type { ModelAnswer } from '../../../src/reference-worker/model.ts';
import { createTokenizer, SPECIAL_TOKENS as T } from '../../../src/reference-worker/tokenizer.ts';

const tokenizer = createTokenizer(
  new Map([
    ['think', [101]],
    ['say', [102]],
    ['f {}', [103]],
    ['sorry', [104]],
  ]),
);
const answer: ModelAnswer = {
  content: 'say',
  reasoning: 'think',
  refusal: null,
  toolCalls: [{ id: null, name: 'f', arguments: '{}' }],
  finishReason: undefined,
  usage: undefined,
  tokenIds: undefined,
  logprob: undefined,
  completionId: undefined,
  delayMs: 0,
};
const whole = { template: true, maxTokens: 1000 };
const ids = (generation: Generation) => generation.tokens.map(({ id }) => id);
const textOf = (generation: Generation) => ({ content: generation.content, finishReason: generation.finishReason });

describe('generating', () => {
  test('reasoning, text, calls, e', () => {
    const generation = generate(answer, tokenizer, whole);
    assert.deepEqual(ids(generation), [T.reasoning, 101, T.reasoningEnd, 102, T.toolCall, 103, T.end]);
    assert.equal(generation.finishReason, 'tool_calls');
  });

  test('without a template no markers and no e', () => {
    assert.deepEqual(ids(generate(answer, tokenizer, { ...whole, template: false })), [101, 102, 103]);
  });

  test('text alone stops, a refusal is written like text', () => {
    const plain = { ...answer, reasoning: null, toolCalls: [] };
    assert.deepEqual(ids(generate(plain, tokenizer, whole)), [102, T.end]);
    assert.equal(generate(plain, tokenizer, whole).finishReason, 'stop');
    const refusing = { ...plain, content: null, refusal: 'sorry' };
    assert.deepEqual(ids(generate(refusing, tokenizer, whole)), [104, T.end]);
  });

  test('a scripted finish reason holds; the model writes e only when it stops by itself', () => {
    const plain = { ...answer, reasoning: null, toolCalls: [] };
    const last = (finishReason: string | null) =>
      generate({ ...plain, finishReason }, tokenizer, whole).tokens.at(-1)?.id;
    assert.equal(last('stop'), T.end);
    for (const reason of ['length', 'abort', 'content_filter', null]) assert.equal(last(reason), 102);
    const generation = generate({ ...answer, finishReason: 'length' }, tokenizer, { ...whole, maxTokens: 2 });
    assert.equal(generation.tokens.length, 6);
    assert.equal(generation.finishReason, 'length');
  });

  test('scripted tokens are taken as they are', () => {
    const generation = generate({ ...answer, tokenIds: [1001] }, tokenizer, { ...whole, maxTokens: 1 });
    assert.deepEqual(ids(generation), [1001]);
    assert.equal(generation.finishReason, 'tool_calls');
    assert.equal(generation.content, 'say');
  });
});

describe('the length limit', () => {
  const plain = { ...answer, reasoning: null, toolCalls: [], content: 'one two three' };

  test('an answer that just fits with its e is whole', () => {
    assert.deepEqual(textOf(generate(plain, tokenizer, { ...whole, maxTokens: 5 })), {
      content: 'one two three',
      finishReason: 'stop',
    });
  });

  test('a longer one is cut, in tokens and in text', () => {
    const generation = generate(plain, tokenizer, { ...whole, maxTokens: 4 });
    assert.equal(generation.tokens.length, 4);
    assert.deepEqual(textOf(generation), { content: 'one two three', finishReason: 'length' });
    const shorter = generate(plain, tokenizer, { ...whole, maxTokens: 2 });
    assert.deepEqual(textOf(shorter), { content: 'one two', finishReason: 'length' });
  });

  test('what is cut away is not there', () => {
    const long = { ...answer, reasoning: 'first second', content: 'say' };
    const generation = generate(long, tokenizer, { ...whole, maxTokens: 2 });
    assert.deepEqual(generation.reasoning, 'firs');
    assert.equal(generation.content, '');
    assert.deepEqual(generation.toolCalls, []);
  });

  test('arguments end in the middle; a call whose name is not complete is none', () => {
    const calling = {
      ...answer,
      reasoning: null,
      content: null,
      toolCalls: [{ id: 'c', name: 'look', arguments: '{"path":"/some/where"}' }],
    };
    const generation = generate(calling, tokenizer, { ...whole, maxTokens: 4 });
    assert.deepEqual(generation.toolCalls, [{ id: 'c', name: 'look', arguments: '{"path' }]);
    assert.deepEqual(generate(calling, tokenizer, { ...whole, maxTokens: 2 }).toolCalls, []);
    assert.equal(generation.content, null);
  });
});
