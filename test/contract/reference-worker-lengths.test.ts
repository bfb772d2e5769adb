import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SPECIAL_TOKENS } from '../../src/reference-worker/tokenizer.ts';
import {
  admissionOf,
  answerCall,
  bodyOf,
  errorOf,
  type JsonObject,
  postChat,
  postJson,
  user,
  withWorker,
} from '../support/capture-by-hand.ts';

/** Measuring and length limits of the worker over HTTP (protocol sections 5 and 9). */

describe('measuring', () => {
  test('the length of the exact prompt of a would-be call, and nothing is stored', async () => {
    await withWorker({}, async (worker) => {
      const first = await answerCall(worker.url, { owner: 'a', callId: 'c1', messages: [user('task')] });
      const call = { owner: 'a', callId: 'c2', messages: [...first.history, user('go on')], parent: first };
      const request = { model: 'policy', messages: call.messages, ng_capture: admissionOf(call) };
      for (const path of ['/tokenize', '/v1/tokenize']) {
        const response = await postJson(worker.url + path, request);
        assert.equal(response.status, 200);
        const measured = (await response.json()) as JsonObject;
        assert.deepEqual(Object.keys(measured), ['prompt_token_count', 'ng_context_measured']);
        assert.equal(measured.ng_context_measured, true);
        assert.deepEqual(worker.stagedKeys(), ['a/c1']);
        const { parent_call_id, event } = worker.log().at(-1)!;
        assert.deepEqual([event, parent_call_id], ['measured', 'c1']);
        if (path !== '/v1/tokenize') continue;
        const second = await answerCall(worker.url, call);
        assert.equal((second.completion.usage as JsonObject).prompt_tokens, measured.prompt_token_count);
      }
    });
  });

  test('schema 2 measures too; missing evidence is a 500, a bad admission a 400, told not to measure it tokenizes', async () => {
    await withWorker({}, async (worker) => {
      const call = { owner: 'a', callId: 'c1', messages: [user('task')] };
      const post = async (ng_capture: unknown) => {
        const response = await postJson(`${worker.url}/tokenize`, { messages: call.messages, ng_capture });
        return { status: response.status, body: (await response.json()) as JsonObject };
      };
      assert.equal((await post(admissionOf({ ...call, schema: 2 }))).body.ng_context_measured, true);
      assert.equal((await post({ ...admissionOf(call), request_replay: null })).status, 500);
      assert.equal((await post({})).status, 400);
      worker.arm({ kind: 'not_measured', route: 'tokenize' }, { kind: 'status', status: 503, route: 'tokenize' });
      const tokenized = await post(admissionOf(call));
      assert.equal(tokenized.status, 200);
      assert.equal('ng_context_measured' in tokenized.body, false);
      assert.equal((await post(admissionOf(call))).status, 503);
    });
  });

  test('plain tokenization of a conversation or a text', async () => {
    await withWorker({ maxModelLen: 99, vocabulary: { hi: [5000] } }, async (worker) => {
      const post = async (body: unknown) => (await postJson(`${worker.url}/tokenize`, body)).json();
      assert.deepEqual(await post({ prompt: 'hi' }), { count: 1, max_model_len: 99, tokens: [5000], token_strs: null });
      const tokens = [SPECIAL_TOKENS.begin, SPECIAL_TOKENS.user, 5000, SPECIAL_TOKENS.end];
      assert.deepEqual(await post({ messages: [user('hi')], add_generation_prompt: false }), {
        count: 4,
        max_model_len: 99,
        tokens,
        token_strs: null,
      });
      const withPrompt = (await post({ messages: [user('hi')] })) as { tokens: number[] };
      assert.deepEqual(withPrompt.tokens, [...tokens, SPECIAL_TOKENS.assistant]);
    });
  });
});

describe('context length', () => {
  test('a prompt that does not fit, or not with what is asked for, is refused before anything is staged', async () => {
    await withWorker({ maxModelLen: 30 }, async (worker) => {
      const body = bodyOf({ owner: 'a', callId: 'c1', messages: [user('word '.repeat(40))] });
      const { messages, ng_capture: _, ...plain } = body;
      for (const request of [body, { ...plain, messages }, { ...plain, messages: [user('x')], max_tokens: 28 }]) {
        const answer = await postChat(worker.url, request);
        assert.equal(answer.status, 400);
        const { message, ...rest } = errorOf(answer.body);
        assert.deepEqual(rest, { type: 'invalid_request_error', param: 'input_tokens', code: 400 });
        assert.match(message, /maximum context length .* 30 tokens/);
      }
      assert.deepEqual(worker.stagedKeys(), []);
      assert.equal(worker.log().at(-1)?.event, 'refused');
    });
  });

  test('what fits is cut at the end of the context', async () => {
    await withWorker({ maxModelLen: 12 }, async (worker) => {
      worker.script({ answers: [{ content: 'one two three four five six seven eight nine ten' }] });
      const answer = await answerCall(worker.url, { owner: 'a', callId: 'c1', messages: [user('x')] });
      const [choice] = answer.completion.choices as { finish_reason: string }[];
      assert.equal(choice?.finish_reason, 'length');
      assert.equal(answer.coordinates.cum_len, 12);
    });
  });
});
