import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { stagedRecord } from '../../src/protocol/wire/ledger.ts';
import { runReferenceWorker } from '../../src/reference-worker/command.ts';
import { createReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import {
  type AnsweredCall,
  answerCall,
  bodyOf,
  errorOf,
  type JsonObject,
  postChat,
  postJson,
  user,
  withWorker,
} from '../support/capture-by-hand.ts';
import { validCoordinates } from '../support/valid-coordinates.ts';

/** What the reference worker serves beside captured calls: plain traffic, models, TransferQueue reads, files, the instant mode. */

const messageOf = (body: JsonObject) => (body.choices as { message: JsonObject; finish_reason: string }[])[0]!.message;

describe('plain calls', () => {
  test('an uncaptured call has no coordinates and stages nothing', async () => {
    await withWorker({ newId: () => '1'.repeat(32), nowS: () => 1_700_000_000.9 }, async (worker) => {
      const { status, body } = await postChat(worker.url, { model: 'other', messages: [user('hello')] });
      assert.equal(status, 200);
      assert.equal(body.id, `chatcmpl-${'1'.repeat(32)}`);
      assert.equal(body.created, 1_700_000_000);
      assert.equal(body.model, 'other');
      assert.equal(messageOf(body).content, 'Echo of message 1: hello');
      assert.equal('ng_commit_coords' in body, false);
      assert.deepEqual(worker.stagedKeys(), []);
      assert.deepEqual(
        worker.log().map(({ event }) => event),
        ['plain'],
      );
    });
  });

  test('the completion id follows the request, as an engine lets it', async () => {
    await withWorker({}, async (worker) => {
      const body = { messages: [user('x')] };
      const idOf = async (more: JsonObject, headers = {}) => {
        const response = await postJson(`${worker.url}/v1/chat/completions`, { ...body, ...more }, headers);
        return ((await response.json()) as JsonObject).id;
      };
      assert.equal(await idOf({ request_id: 'mine' }), 'chatcmpl-mine');
      assert.equal(await idOf({}, { 'x-request-id': 'header' }), 'chatcmpl-header');
      assert.match(String(await idOf({})), /^chatcmpl-[0-9a-f]{32}$/);
      worker.script({ answers: [{ content: 'x', id: 'exact' }] });
      assert.equal(await idOf({}), 'exact');
    });
  });

  test('n choices, log probabilities by text, max_tokens', async () => {
    await withWorker({}, async (worker) => {
      worker.script({ answers: [{ content: 'one two three' }] });
      const request = { messages: [user('x')], n: 2, logprobs: true, max_tokens: 2 };
      const { body } = await postChat(worker.url, request);
      const choices = body.choices as { index: number; finish_reason: string; logprobs: { content: JsonObject[] } }[];
      assert.deepEqual(
        choices.map(({ index, finish_reason }) => [index, finish_reason]),
        [
          [0, 'length'],
          [1, 'length'],
        ],
      );
      assert.deepEqual(
        choices[0]?.logprobs.content.map(({ token }) => token),
        ['one', ' two'],
      );
    });
  });

  test('a stream joins to the scripted answer and ends with its usage', async () => {
    await withWorker({ streamDelayMs: 1 }, async (worker) => {
      worker.script({ answers: [{ content: 'to be or not', reasoning: 'a question' }] });
      const request = { messages: [user('x')], stream: true, stream_options: { include_usage: true } };
      const response = await postJson(`${worker.url}/v1/chat/completions`, request);
      assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
      const events = (await response.text()).split('\n\n').filter((event) => event !== '');
      assert.equal(events.at(-1), 'data: [DONE]');
      const chunks = events.slice(0, -1).map((event) => JSON.parse(event.replace('data: ', '')));
      const deltas = chunks.flatMap((chunk) => chunk.choices).map((choice) => choice.delta);
      assert.equal(deltas.map((delta) => delta.content ?? '').join(''), 'to be or not');
      assert.equal(deltas.map((delta) => delta.reasoning ?? '').join(''), 'a question');
      assert.ok(chunks.at(-1).usage.total_tokens > 0);
    });
  });

  test('a client that leaves in the middle of a stream leaves the worker as it was', async () => {
    await withWorker({ streamDelayMs: 2 }, async (worker) => {
      worker.script({ answers: [{ content: 'word '.repeat(200) }] });
      const response = await postJson(`${worker.url}/v1/chat/completions`, { messages: [user('x')], stream: true });
      const reader = response.body!.getReader();
      assert.match(Buffer.from((await reader.read()).value!).toString(), /^data: /);
      await reader.cancel();
      assert.equal((await postChat(worker.url, { messages: [user('x')] })).status, 200);
    });
  });

  test('tool calls get an id where the script has none, and reasoning its key', async () => {
    await withWorker({ reasoningKey: 'both' }, async (worker) => {
      worker.script({
        answers: [
          {
            reasoning: 'r',
            tool_calls: [
              { name: 'f', arguments: { a: 1 } },
              { name: 'g', id: 'own' },
            ],
          },
        ],
      });
      const message = messageOf((await postChat(worker.url, { messages: [user('x')] })).body);
      const [first, second] = message.tool_calls as JsonObject[];
      assert.match(String(first?.id), /^chatcmpl-tool-[0-9a-f]{32}$/);
      assert.deepEqual(first?.function, { name: 'f', arguments: '{"a":1}' });
      assert.equal(second?.id, 'own');
      assert.deepEqual([message.content, message.reasoning, message.reasoning_content], [null, 'r', 'r']);
    });
  });

  test('a careless worker leaks tokens', async () => {
    await withWorker({ leakTokens: true }, async (worker) => {
      const { body } = await postChat(worker.url, { messages: [user('x')] });
      assert.ok((body.prompt_token_ids as number[]).length > 0);
      assert.ok((messageOf(body).generation_token_ids as number[]).length > 0);
    });
  });
});

describe('the engine around it', () => {
  test('models, health, unknown routes', async () => {
    await withWorker({ models: ['one', 'two'], maxModelLen: 4096 }, async (worker) => {
      const list = (await (await fetch(`${worker.url}/v1/models`)).json()) as { object: string; data: JsonObject[] };
      assert.equal(list.object, 'list');
      assert.deepEqual(
        list.data.map(({ id, object, max_model_len }) => [id, object, max_model_len]),
        [
          ['one', 'model', 4096],
          ['two', 'model', 4096],
        ],
      );
      assert.equal((await postChat(worker.url, { messages: [user('x')] })).body.model, 'one');
      assert.equal((await fetch(`${worker.url}/health`)).status, 200);
      const unknown = await fetch(`${worker.url}/v1/completions`, { method: 'POST' });
      assert.equal(unknown.status, 404);
      assert.equal(errorOf((await unknown.json()) as JsonObject).code, 404);
    });
  });

  test('with a key only those who have it', async () => {
    await withWorker({ apiKey: 'secret' }, async (worker) => {
      const status = async (headers: Record<string, string>) =>
        (await postJson(`${worker.url}/v1/chat/completions`, { messages: [user('x')] }, headers)).status;
      assert.equal(await status({}), 401);
      assert.equal(await status({ authorization: 'Bearer wrong!' }), 401);
      assert.equal(await status({ authorization: 'Bearer secret' }), 200);
      assert.equal((await fetch(`${worker.url}/v1/models`)).status, 401);
      assert.equal((await fetch(`${worker.url}/health`)).status, 200);
    });
  });

  test('requests are kept byte for byte, the newest ones', async () => {
    await withWorker({ keptRequests: 2 }, async (worker) => {
      const texts = ['1', '2', '3'].map((n) => `{"messages": [{"role":"user","content":"\\u00e9"}], "seed": ${n}.0}`);
      for (const text of texts) await postJson(`${worker.url}/v1/chat/completions`, text, { 'x-own': 'yes' });
      assert.deepEqual(
        worker.requests().map(({ body }) => body.toString()),
        texts.slice(1),
      );
      const kept = (await (await fetch(`${worker.url}/control/requests`)).json()) as { requests: JsonObject[] };
      const [request] = kept.requests;
      assert.equal(request?.body, texts[1]);
      assert.equal(request?.path, '/v1/chat/completions');
      assert.equal((request!.headers as JsonObject)['x-own'], 'yes');
    });
  });

  test('without listening it answers injected requests', async () => {
    const worker = createReferenceWorker();
    const payload = bodyOf({ owner: 'a', callId: 'c1', messages: [user('x')] });
    const response = await worker.app.inject({ method: 'POST', url: '/v1/chat/completions', payload });
    assert.equal(response.statusCode, 200);
    assert.equal(worker.log().at(-1)?.event, 'acknowledged');
    await worker.close();
  });
});

describe('the TransferQueue stand-in over HTTP', () => {
  test('one record, a batch, keys by prefix, clearing', async () => {
    await withWorker({}, async (worker) => {
      for (const [owner, callId] of [
        ['a', 'c1'],
        ['a', 'c2'],
        ['b', 'c1'],
      ] as const) {
        await answerCall(worker.url, { owner, callId, messages: [user(callId)] });
      }
      const get = async (path: string) => {
        const response = await fetch(worker.url + path);
        return { status: response.status, body: (await response.json()) as JsonObject };
      };
      const post = async (path: string, body: unknown) => {
        const response = await postJson(worker.url + path, body);
        return { status: response.status, body: (await response.json()) as JsonObject };
      };
      const record = await get('/transfer-queue/a/c1');
      assert.deepEqual(stagedRecord.parse(record.body), worker.stagedRecord('a/c1'));
      assert.equal((await get('/transfer-queue/a/c9')).status, 404);
      assert.deepEqual((await get('/transfer-queue?prefix=a/')).body, { keys: ['a/c1', 'a/c2'] });
      assert.deepEqual((await get('/transfer-queue')).body, { keys: ['a/c1', 'a/c2', 'b/c1'] });
      assert.deepEqual((await post('/transfer-queue/get-batch', { keys: ['b/c1', 'x/y', 'a/c1'] })).body, {
        records: [worker.stagedRecord('b/c1'), worker.stagedRecord('a/c1')],
        missing: ['x/y'],
      });
      assert.deepEqual((await post('/transfer-queue/clear', { keys: ['a/c1', 'x/y'] })).body, {
        cleared: ['a/c1'],
        absent: ['x/y'],
      });
      assert.equal((await get('/transfer-queue/a/c1')).status, 404);
      assert.equal((await post('/transfer-queue/get-batch', { key: 'a' })).status, 400);
    });
  });
});

describe('the command', () => {
  test('reads script and vocabulary from files, keeps tokens across restarts, and writes its log', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'worker-'));
    try {
      const files = {
        scriptFile: join(folder, 'script.yaml'),
        vocabularyFile: join(folder, 'vocabulary.json'),
        queueFile: join(folder, 'queue.jsonl'),
        logFile: join(folder, 'log.jsonl'),
      };
      writeFileSync(files.scriptFile, 'answers:\n  - content: from the file\n');
      writeFileSync(files.vocabularyFile, '{"task": [10, 11]}');
      const first = await runReferenceWorker(files);
      const root = await answerCall(first.url, { owner: 'a', callId: 'c1', messages: [user('task')] });
      await first.close();
      assert.equal(root.history.at(-1)?.content, 'from the file');
      assert.deepEqual(first.stagedRecord('a/c1')?.token_ids_delta.slice(2, 4), [10, 11]);
      const logged = readFileSync(files.logFile, 'utf8').trimEnd().split('\n');
      assert.deepEqual(
        logged.map((line) => JSON.parse(line)),
        first.log(),
      );

      const second = await runReferenceWorker({ queueFile: files.queueFile });
      const messages = [...root.history, user('go on')];
      const child = await answerCall(second.url, { owner: 'a', callId: 'c2', messages, parent: root });
      await second.close();
      assert.equal(child.coordinates.parent_call_id, 'c1');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a file that is not understood is named', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'worker-'));
    try {
      const scriptFile = join(folder, 'script.json');
      writeFileSync(scriptFile, '{"answer": []}');
      await assert.rejects(runReferenceWorker({ scriptFile }), /script\.json: .*answer/s);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the instant mode', () => {
  test('true coordinates over staged tokens of the asked length, chained', async () => {
    await withWorker({ instant: { promptTokens: 5, generatedTokens: 3 }, weightVersion: 2 }, async (worker) => {
      let parent: AnsweredCall | null = null;
      for (const callId of ['c1', 'c2', 'c3']) {
        const messages = [...(parent?.history ?? []), user('x')];
        parent = await answerCall(worker.url, { owner: 'a', callId, messages, parent });
        validCoordinates(parent.coordinates);
        const record = stagedRecord.parse(worker.stagedRecord(`a/${callId}`));
        const { mode, token_ids_delta, token_mask_delta, generation_log_probs_delta, extras, ...shared } = record;
        assert.deepEqual(parent.coordinates, { ...shared, disposition: 'staged' });
        assert.equal(token_ids_delta.length, 8);
        assert.deepEqual(token_mask_delta, [0, 0, 0, 0, 0, 1, 1, 1]);
        const [choice] = parent.completion.choices as { logprobs: { content: { token: string }[] } }[];
        assert.deepEqual(
          choice!.logprobs.content.map(({ token }) => token),
          token_ids_delta.slice(5).map((id) => `token_id:${id}`),
        );
        assert.deepEqual([generation_log_probs_delta[4], generation_log_probs_delta[5]], [0, -0.25]);
        assert.equal(extras, null);
        assert.equal(mode, callId === 'c1' ? 'text' : 'token_in');
      }
      assert.equal(parent?.coordinates.cum_len, 24);
      const over = (await (await fetch(`${worker.url}/transfer-queue/a/c3`)).json()) as JsonObject;
      assert.deepEqual(over, worker.stagedRecord('a/c3'));
    });
  });

  test('a call without tokens of its own cannot be asked for', () => {
    assert.throws(() => createReferenceWorker({ instant: { generatedTokens: 0 } }), RangeError);
    assert.throws(() => createReferenceWorker({ instant: { promptTokens: 0 } }), RangeError);
  });

  test('schema 2, plain calls, missing tokens, a bad admission, a wrong key', async () => {
    await withWorker({ instant: {}, apiKey: 'k' }, async (worker) => {
      const post = async (body: unknown, key = 'k') => {
        const headers = { authorization: `Bearer ${key}` };
        const response = await postJson(`${worker.url}/v1/chat/completions`, body, headers);
        return { status: response.status, body: (await response.json()) as JsonObject };
      };
      const call = { owner: 'a', callId: 'c1', messages: [user('x')], schema: 2 as const };
      const captured = await post(bodyOf(call));
      validCoordinates(captured.body.ng_commit_coords, 2, 'rollout_id');
      const plain = await post({ messages: [user('x')] });
      assert.equal(plain.status, 200);
      assert.equal('ng_commit_coords' in plain.body, false);
      const lost = { ...(bodyOf(call).ng_capture as JsonObject), model_call_id: 'c2', staging_chain: ['a/gone'] };
      assert.equal((await post({ ng_capture: lost })).status, 500);
      assert.equal((await post({ ng_capture: {} })).status, 400);
      assert.equal((await post({ messages: [user('x')] }, 'wrong')).status, 401);
    });
  });
});
