import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildCompletion, type CompletionInput } from '../../../src/reference-worker/completion.ts';
import { completionEvents } from '../../../src/reference-worker/completion-stream.ts';

const input: CompletionInput = {
  id: 'chatcmpl-1',
  createdS: 1_700_000_000,
  model: 'policy',
  generations: [
    {
      tokens: [
        { id: 101, text: 'say' },
        { id: 2, text: '' },
      ],
      content: 'say it now',
      reasoning: 'hm so',
      refusal: null,
      toolCalls: [{ id: null, name: 'f', arguments: '{"a": 1}' }],
      finishReason: 'tool_calls',
    },
  ],
  prompt: [1, 2, 3],
  cachedTokens: 2,
  usage: undefined,
  logprobs: 'none',
  logprob: -0.25,
  reasoningKey: 'reasoning',
  leakTokens: false,
  newToolCallId: () => 'made',
};
const usage = {
  prompt_tokens: 3,
  completion_tokens: 2,
  total_tokens: 5,
  prompt_tokens_details: { cached_tokens: 2 },
};
const calls = [{ id: 'made', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } }];

describe('the completion', () => {
  test('as a vLLM server writes it', () => {
    assert.deepEqual(buildCompletion(input), {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'policy',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'say it now',
            refusal: null,
            annotations: null,
            audio: null,
            function_call: null,
            tool_calls: calls,
            reasoning: 'hm so',
          },
          logprobs: null,
          finish_reason: 'tool_calls',
          stop_reason: null,
          token_ids: null,
        },
      ],
      service_tier: null,
      system_fingerprint: null,
      usage,
      prompt_logprobs: null,
      prompt_token_ids: null,
      kv_transfer_params: null,
    });
  });

  test('log probabilities by token text or token id', () => {
    const tokensOf = (logprobs: 'texts' | 'token_ids') => {
      const [choice] = buildCompletion({ ...input, logprobs }).choices;
      return (choice!.logprobs as { content: unknown[] }).content;
    };
    assert.deepEqual(tokensOf('token_ids')[1], {
      token: 'token_id:2',
      logprob: -0.25,
      bytes: [...Buffer.from('token_id:2')],
      top_logprobs: [],
    });
    assert.deepEqual(tokensOf('texts')[0], { token: 'say', logprob: -0.25, bytes: [115, 97, 121], top_logprobs: [] });
  });

  test('reasoning under the chosen key', () => {
    const message = (reasoningKey: CompletionInput['reasoningKey']) =>
      buildCompletion({ ...input, reasoningKey }).choices[0]?.message;
    assert.equal('reasoning_content' in message('reasoning')!, false);
    assert.equal(message('reasoning_content')?.reasoning_content, 'hm so');
    assert.equal('reasoning' in message('reasoning_content')!, false);
    assert.deepEqual([message('both')?.reasoning, message('both')?.reasoning_content], ['hm so', 'hm so']);
  });

  test('a careless engine leaks tokens everywhere', () => {
    const completion = buildCompletion({ ...input, leakTokens: true });
    const choice = completion.choices[0];
    assert.deepEqual(completion.prompt_token_ids, [1, 2, 3]);
    assert.equal((completion.prompt_logprobs as unknown[]).length, 3);
    assert.equal(choice?.stop_reason, 2);
    assert.deepEqual(choice?.token_ids, [101, 2]);
    assert.deepEqual(choice?.message.generation_token_ids, [101, 2]);
    assert.deepEqual(choice?.message.generation_log_probs, [-0.25, -0.25]);
    for (const key of ['prompt_token_ids', 'routed_experts', 'predecessor_tail_route', 'compact_prompt_token_ids']) {
      assert.ok(choice?.message[key] != null, key);
    }
  });

  test('usage can be given or left out', () => {
    assert.deepEqual(buildCompletion({ ...input, usage: { prompt_tokens: 9 } }).usage, { prompt_tokens: 9 });
    assert.equal(buildCompletion({ ...input, usage: null }).usage, null);
  });
});

describe('the stream of a completion', () => {
  const completion = buildCompletion({ ...input, generations: [...input.generations, ...input.generations] });
  const parse = (events: string[]) =>
    events.slice(0, -1).map((event) => {
      assert.ok(event.startsWith('data: {') && event.endsWith('\n\n'), event);
      return JSON.parse(event.slice('data: '.length));
    });

  test('pieces join to the same answer, in every choice', () => {
    const events = completionEvents(completion, false);
    assert.equal(events.at(-1), 'data: [DONE]\n\n');
    const chunks = parse(events);
    for (const index of [0, 1]) {
      const own = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === index);
      const deltas = own.map((choice) => choice.delta);
      const join = (key: string) => deltas.map((delta) => delta[key] ?? '').join('');
      assert.deepEqual(deltas[0], { role: 'assistant', content: '' });
      assert.equal(join('content'), 'say it now');
      assert.equal(join('reasoning'), 'hm so');
      const pieces = deltas.flatMap((delta) => delta.tool_calls ?? []);
      assert.deepEqual(pieces[0], { index: 0, id: 'made', type: 'function', function: { name: 'f', arguments: '' } });
      assert.equal(pieces.map((piece) => piece.function.arguments).join(''), '{"a": 1}');
      assert.deepEqual(
        own.map((choice) => choice.finish_reason).filter((reason) => reason !== null),
        ['tool_calls'],
      );
    }
    for (const chunk of chunks) {
      assert.equal(chunk.object, 'chat.completion.chunk');
      assert.equal(chunk.id, 'chatcmpl-1');
      assert.equal('usage' in chunk, false);
    }
  });

  test('usage comes last, in a chunk without choices, where it was asked for', () => {
    const chunks = parse(completionEvents(completion, true));
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.deepEqual(chunks.at(-1).usage, { ...usage, completion_tokens: 4, total_tokens: 7 });
    assert.ok(chunks.slice(0, -1).every((chunk) => chunk.usage === null));
  });
});
