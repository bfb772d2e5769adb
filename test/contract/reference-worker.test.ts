import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type StagedRecord, stagedRecord } from '../../src/protocol/wire/ledger.ts';
import { type RunningReferenceWorker, startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import { SPECIAL_TOKENS } from '../../src/reference-worker/tokenizer.ts';
import {
  type AnsweredCall,
  answerCall,
  bodyOf,
  errorOf,
  type HandCall,
  type HandMessage,
  type JsonObject,
  postChat,
  postJson,
  user,
  withWorker,
} from '../support/capture-by-hand.ts';
import { validCoordinates } from '../support/valid-coordinates.ts';

/** The worker's side of the protocol over HTTP: sections 5, 6, 10, 12, 13. Calls are proposed by hand, as a proxy would. */

const vectors = JSON.parse(readFileSync(new URL('../vectors/vectors.json', import.meta.url), 'utf8')) as {
  worked_example: { rows: (JsonObject & { digest_schema_2: string; digest_schema_3: string; staging_key: string })[] };
};

describe('the worked example', () => {
  for (const schema of [3, 2] as const) {
    test(`schema ${schema}: five calls over HTTP give the staged records of the vectors`, async () => {
      const script = {
        answers: [1, 2, 3, 4, 5].map((k) => ({
          reasoning: `reasoning ${k}`,
          content: 'answer',
          token_ids: [1000 + k],
        })),
      };
      const vocabulary = { task: [10, 11], 'observation 1': [20, 21], summary: [30, 31], 'observation 3': [40, 41] };
      await withWorker({ template: 'none', weightVersion: 7, script, vocabulary }, async (worker) => {
        const ask = (callId: string, messages: readonly HandMessage[], parent: AnsweredCall | null) =>
          answerCall(worker.url, { owner: 'group_g0', callId, messages, parent, schema });
        const c1 = await ask('c1', [user('task')], null);
        await ask('c2', [...c1.history, user('observation 1')], c1);
        const c3 = await ask('c3', [user('summary')], null);
        const c4 = await ask('c4', [...c3.history, user('observation 3')], c3);
        const c5 = await ask('c5', [...c3.history, user('observation 3')], c3);
        assert.notEqual(c4.coordinates.cumulative_hash, c5.coordinates.cumulative_hash);

        for (const { digest_schema_2, digest_schema_3, ...fields } of vectors.worked_example.rows) {
          assert.deepEqual(worker.stagedRecord(fields.staging_key), {
            ...fields,
            schema_version: schema,
            digest_version: 2,
            extras_digest_version: 1,
            digest: schema === 2 ? digest_schema_2 : digest_schema_3,
          });
        }
        assert.equal(worker.stagedKeys().length, vectors.worked_example.rows.length);
        assert.equal(worker.scriptRemaining(), 0);
      });
    });
  }
});

describe('a captured call', () => {
  let worker: RunningReferenceWorker;
  before(async () => {
    worker = await startReferenceWorker({ nowS: () => 1_700_000_000.5 });
  });
  after(() => worker.close());
  const staged = (call: AnsweredCall): StagedRecord => worker.stagedRecord(String(call.coordinates.staging_key))!;

  test('a root: coordinates of the strict wire form over what is staged', async () => {
    worker.script({ answers: [{ content: 'said', reasoning: 'thought' }] });
    worker.setWeightVersion(4);
    const call = await answerCall(worker.url, { owner: 'root', callId: 'c1', messages: [user('task')] });
    const record = staged(call);
    assert.deepEqual(stagedRecord.parse(record), record);
    validCoordinates(call.coordinates);
    const { mode, token_ids_delta, token_mask_delta, generation_log_probs_delta, extras, ...shared } = record;
    assert.deepEqual(call.coordinates, { ...shared, disposition: 'staged' });
    assert.equal(mode, 'text');
    assert.equal(record.weight_version, 4);
    assert.equal(extras, null);
    const prompt = token_mask_delta.indexOf(1);
    assert.deepEqual(
      token_mask_delta,
      token_mask_delta.map((_, at) => (at < prompt ? 0 : 1)),
    );
    assert.deepEqual(
      generation_log_probs_delta,
      token_mask_delta.map((mask) => (mask === 1 ? -0.25 : 0)),
    );
    assert.equal(token_ids_delta.at(-1), SPECIAL_TOKENS.end);
    const { choices, usage } = call.completion as {
      choices: { logprobs: { content: { token: string }[] } }[];
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    assert.deepEqual(
      choices[0]?.logprobs.content.map(({ token }) => token),
      token_ids_delta.slice(prompt).map((id) => `token_id:${id}`),
    );
    assert.equal(usage.prompt_tokens, prompt);
    assert.equal(usage.completion_tokens, token_ids_delta.length - prompt);
  });

  test('a continuation keeps the exact generated tokens, which a rendering of the same text would not give', async () => {
    const text = 'incomprehensibilities and misunderstandings';
    worker.script({ answers: [{ content: text }, { content: 'done' }] });
    const first = await answerCall(worker.url, { owner: 'chain', callId: 'c1', messages: [user('task')] });
    const messages = [...first.history, user('go on')];
    const second = await answerCall(worker.url, { owner: 'chain', callId: 'c2', messages, parent: first });
    assert.equal(second.coordinates.parent_call_id, 'c1');
    assert.equal(second.coordinates.prev_len, first.coordinates.cum_len);
    assert.equal(
      (second.completion.usage as JsonObject).prompt_tokens,
      Number(second.coordinates.prev_len) + newPrompt(staged(second)),
    );
    const tokenized = (await (await postJson(`${worker.url}/tokenize`, { messages })).json()) as { tokens: number[] };
    const prefix = staged(first).token_ids_delta;
    assert.notDeepEqual(tokenized.tokens.slice(0, prefix.length), prefix);
    // Behind the prefix stands what the rendering has behind the last assistant message's end.
    const tail = staged(second).token_ids_delta.slice(0, newPrompt(staged(second)));
    assert.deepEqual(tokenized.tokens.slice(-tail.length), tail);
  });

  test('a parent that stopped for length gets its end token from the template', async () => {
    worker.script({ answers: [{ content: 'cut', finish_reason: 'length' }, { content: 'done' }] });
    const first = await answerCall(worker.url, { owner: 'cut', callId: 'c1', messages: [user('task')] });
    assert.notEqual(staged(first).token_ids_delta.at(-1), SPECIAL_TOKENS.end);
    const messages = [...first.history, user('go on')];
    const second = await answerCall(worker.url, { owner: 'cut', callId: 'c2', messages, parent: first });
    assert.equal(staged(second).token_ids_delta[0], SPECIAL_TOKENS.end);
  });

  test('a candidate that does not hold becomes a root, and nobody is told', async () => {
    const first = await answerCall(worker.url, { owner: 'rewrite', callId: 'c1', messages: [user('task')] });
    const messages = [user('another task'), ...first.history.slice(1), user('go on')];
    const second = await answerCall(worker.url, { owner: 'rewrite', callId: 'c2', messages, parent: first });
    assert.equal(second.coordinates.parent_call_id, null);
    assert.equal(second.coordinates.prev_len, 0);
    assert.equal(staged(second).mode, 'text');
  });

  test('an empty turn with calls is the same turn only with the statement, and only where all contents are plain', async () => {
    const tool_calls = [{ name: 'look', id: 'call_1' }];
    worker.script({ answers: [{ tool_calls }, { content: 'x' }, { content: 'x' }, { content: 'x' }] });
    const first = await answerCall(worker.url, { owner: 'empty', callId: 'c1', messages: [user('task')] });
    const [task, turn] = first.history as [HandMessage, HandMessage];
    assert.equal(turn.content, null);
    const result: HandMessage = { role: 'tool', content: 'seen', tool_call_id: 'call_1' };
    const parentOf = async (callId: string, source_match: string, last: HandMessage) => {
      const call = { owner: 'empty', callId, messages: [task, { ...turn, content: '' }, last], parent: first };
      const body = bodyOf(call);
      const answer = await postChat(worker.url, {
        ...body,
        ng_capture: { ...(body.ng_capture as JsonObject), source_match },
      });
      return (answer.body.ng_commit_coords as JsonObject).parent_call_id;
    };
    assert.equal(await parentOf('c2', 'exact', result), null);
    assert.equal(await parentOf('c3', 'empty_tool_content', result), 'c1');
    const parts = { ...result, content: [{ type: 'text', text: 'seen' }] };
    assert.equal(await parentOf('c4', 'empty_tool_content', parts), null);
  });

  test('images of the new prompt are told in the extras, counted from the delta', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.test/i.png' } };
    worker.script({ answers: [{ content: 'a' }, { content: 'b' }] });
    const first = await answerCall(worker.url, { owner: 'media', callId: 'c1', messages: [user([image])] });
    const messages = [...first.history, user([{ type: 'text', text: 'and' }, image])];
    const second = await answerCall(worker.url, { owner: 'media', callId: 'c2', messages, parent: first });
    for (const call of [first, second]) {
      const { extras, token_ids_delta, token_mask_delta } = staged(call);
      const spans = (extras as { media_spans: { modality: string; start: number; length: number }[] }).media_spans;
      assert.equal(spans.length, 1);
      const { modality, start, length } = spans[0]!;
      assert.equal(modality, 'image');
      assert.ok(token_ids_delta.slice(start, start + length).every((id) => id === SPECIAL_TOKENS.media));
      assert.equal(token_ids_delta.filter((id) => id === SPECIAL_TOKENS.media).length, length);
      assert.ok(token_mask_delta.slice(start, start + length).every((mask) => mask === 0));
    }
  });

  test('the weight version is that of the admission, not of the answer', async () => {
    worker.setWeightVersion(1);
    worker.arm({ kind: 'hold', wait_at: 'admission' }, { kind: 'hold', wait_at: 'answer' });
    const early = answerCall(worker.url, { owner: 'weights', callId: 'c1', messages: [user('task')] });
    await worker.whenHeld(1);
    const late = answerCall(worker.url, { owner: 'weights', callId: 'c2', messages: [user('task')] });
    await worker.whenHeld(2);
    worker.setWeightVersion(2);
    assert.equal(worker.release(), 2);
    assert.equal((await early).coordinates.weight_version, 2);
    assert.equal((await late).coordinates.weight_version, 1);
  });

  test('a staging chain without tokens, or with others than the admission says, is a 500 and stages nothing', async () => {
    const first = await answerCall(worker.url, { owner: 'broken', callId: 'c1', messages: [user('task')] });
    const messages = [...first.history, user('go on')];
    const body = bodyOf({ owner: 'broken', callId: 'c2', messages, parent: first });
    const admission = body.ng_capture as JsonObject;
    const wrong: [JsonObject, RegExp][] = [
      [{ staging_chain: ['broken/gone', 'broken/c1'] }, /broken\/gone/],
      [{ prev_len: 4711 }, /not prev_len 4711/],
      [{ parent_chain_hash: 'a'.repeat(64) }, /parent_chain_hash/],
      [{ request_replay: null }, /Missing current source\/render evidence/],
      [{ candidate_replay: null }, /Missing predecessor source\/render evidence/],
      [{ source_match: null }, /Missing source match evidence/],
    ];
    for (const [change, message] of wrong) {
      const answer = await postChat(worker.url, { ...body, ng_capture: { ...admission, ...change } });
      assert.equal(answer.status, 500);
      assert.match(errorOf(answer.body).message, message);
      assert.equal(errorOf(answer.body).code, 500);
    }
    assert.deepEqual(worker.stagedKeys('broken/'), ['broken/c1']);
  });

  test('a body or an admission that is not valid is a 400 with an integer code, and nothing is admitted', async () => {
    const good = bodyOf({ owner: 'bad', callId: 'c1', messages: [user('task')] });
    const cases: [unknown, RegExp][] = [
      ['{', /not JSON/],
      [{ ...good, messages: [] }, /messages/],
      [{ ...good, ng_capture: { ...(good.ng_capture as JsonObject), schema_version: 4 } }, /schema_version/],
      [{ ...good, ng_capture: { ...(good.ng_capture as JsonObject), more: 1 } }, /more/],
      [{ ...good, stream: true }, /must not stream/],
    ];
    for (const [body, message] of cases) {
      const answer = await postChat(worker.url, body);
      assert.equal(answer.status, 400);
      assert.match(errorOf(answer.body).message, message);
      assert.equal(errorOf(answer.body).code, 400);
    }
    assert.deepEqual(worker.stagedKeys('bad/'), []);
    assert.ok(!worker.log().some((event) => event.capture_key === 'bad' && event.event === 'admitted'));
  });

  test('a call id that is staged already is capture_failed: nothing is overwritten', async () => {
    const call = { owner: 'twice', callId: 'c1', messages: [user('task')] };
    const first = staged(await answerCall(worker.url, call));
    const again = await answerCall(worker.url, call);
    assert.equal(again.coordinates.disposition, 'capture_failed');
    assert.deepEqual(worker.stagedRecord('twice/c1'), first);
  });

  test('the log tells the life of a call in order', async () => {
    const from = worker.log().at(-1)?.seq ?? 0;
    const { coordinates } = await answerCall(worker.url, { owner: 'log', callId: 'c1', messages: [user('task')] });
    const events = worker.log(from);
    assert.deepEqual(
      events.map(({ event, capture_key, model_call_id }) => [event, capture_key, model_call_id]),
      ['admitted', 'staged', 'acknowledged'].map((event) => [event, 'log', 'c1']),
    );
    assert.deepEqual(
      events.slice(1).map(({ prev_len, delta_len, cum_len }) => [prev_len, delta_len, cum_len]),
      [0, 1].map(() => [0, coordinates.delta_len, coordinates.cum_len]),
    );
    assert.equal(events[0]?.at, 1_700_000_000.5);
    const overHttp = await (await fetch(`${worker.url}/log?after=${from}`)).json();
    assert.deepEqual(overHttp, events);
  });
});

function newPrompt(record: StagedRecord): number {
  return record.token_mask_delta.filter((mask) => mask === 0).length;
}

describe('schema 2', () => {
  test('the worker obeys: the parent of token_in is stored, whatever the history says', async () => {
    await withWorker({}, async (worker) => {
      const first = await answerCall(worker.url, { owner: 'a', callId: 'c1', messages: [user('task')], schema: 2 });
      assert.ok(!('capture_key' in first.coordinates));
      const messages = [user('rewritten'), { role: 'assistant' as const, content: 'so' }, user('go on')];
      const second = await answerCall(worker.url, { owner: 'a', callId: 'c2', messages, parent: first, schema: 2 });
      validCoordinates(second.coordinates, 2, 'rollout_id');
      assert.equal(second.coordinates.rollout_id, 'a');
      assert.equal(second.coordinates.parent_call_id, 'c1');
      assert.equal(worker.stagedRecord('a/c2')?.mode, 'token_in');
      assert.equal(worker.stagedRecord('a/c2')?.schema_version, 2);
    });
  });

  test('token_in without any assistant message has nothing to splice at: 500', async () => {
    await withWorker({}, async (worker) => {
      const first = await answerCall(worker.url, { owner: 'a', callId: 'c1', messages: [user('task')], schema: 2 });
      const call: HandCall = { owner: 'a', callId: 'c2', messages: [user('task')], parent: first, schema: 2 };
      const answer = await postChat(worker.url, bodyOf(call));
      assert.equal(answer.status, 500);
      assert.match(errorOf(answer.body).message, /no end token/);
    });
  });

  test('a Megatron worker takes the admission from offload_params and does not see another one', async () => {
    await withWorker({ kind: 'megatron' }, async (worker) => {
      const {
        ng_capture,
        return_tokens_as_token_ids: _,
        ...rest
      } = bodyOf({ owner: 'a', callId: 'c1', messages: [user('x')] });
      const captured = await postChat(worker.url, { ...rest, offload_params: { ng_capture } });
      assert.equal((captured.body.ng_commit_coords as JsonObject).staging_key, 'a/c1');
      const blind = await postChat(worker.url, { ...rest, ng_capture });
      assert.equal(blind.status, 200);
      assert.equal('ng_commit_coords' in blind.body, false);
    });
  });
});
