import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Fault } from '../../src/reference-worker/faults.ts';
import { type RunningReferenceWorker, startReferenceWorker } from '../../src/reference-worker/reference-worker.ts';
import {
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

/** Every misbehaviour that the reference worker can be told to show, each over HTTP, with what it staged and logged. */

let worker: RunningReferenceWorker;
let calls = 0;
before(async () => {
  worker = await startReferenceWorker();
});
after(() => worker.close());
afterEach(() => {
  worker.clearFaults();
  worker.release();
});

/** A new captured call under a fault. */
async function faulty(fault: Fault) {
  const callId = `c${calls++}`;
  const from = worker.log().at(-1)?.seq ?? 0;
  worker.arm(fault);
  const body = bodyOf({ owner: 'a', callId, messages: [user('task')] });
  const answer = await postChat(worker.url, body).catch((error: unknown) => {
    assert.ok(error instanceof Error);
    return null;
  });
  return {
    callId,
    answer,
    coordinates: answer?.body.ng_commit_coords as JsonObject | undefined,
    staged: worker.stagedRecord(`a/${callId}`) !== undefined,
    events: worker.log(from).map(({ event }) => event),
  };
}

function connections({ app }: RunningReferenceWorker): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

describe('faults of the acknowledgement', () => {
  test('lose_acknowledgement: staged, answered, no coordinates', async () => {
    const { answer, coordinates, staged, events } = await faulty({ kind: 'lose_acknowledgement' });
    assert.equal(answer?.status, 200);
    assert.equal(coordinates, undefined);
    assert.equal(staged, true);
    assert.deepEqual(events, ['fault', 'admitted', 'staged', 'failed']);
  });

  test('capture_failed: answered, valid coordinates without a staged call', async () => {
    const { answer, coordinates, staged, events } = await faulty({ kind: 'capture_failed' });
    assert.equal(answer?.status, 200);
    const parsed = validCoordinates(coordinates);
    assert.equal(parsed.disposition, 'capture_failed');
    assert.deepEqual([parsed.prev_len, parsed.delta_len, parsed.cum_len], [0, 0, 0]);
    assert.equal(staged, false);
    assert.deepEqual(events, ['fault', 'admitted', 'failed']);
  });

  test('capture_failed of a continuation names the parent that would have been stored', async () => {
    const first = await answerCall(worker.url, { owner: 'p', callId: 'c1', messages: [user('task')] });
    worker.arm({ kind: 'capture_failed' });
    const messages = [...first.history, user('go on')];
    const { coordinates } = await answerCall(worker.url, { owner: 'p', callId: 'c2', messages, parent: first });
    const length = first.coordinates.cum_len;
    assert.deepEqual(
      [coordinates.parent_call_id, coordinates.prev_len, coordinates.cum_len, coordinates.delta_len],
      ['c1', length, length, 0],
    );
    validCoordinates(coordinates);
  });

  test('foreign_coordinates: well-formed, of another call', async () => {
    const { callId, coordinates, staged } = await faulty({ kind: 'foreign_coordinates' });
    validCoordinates(coordinates);
    assert.notEqual(coordinates?.capture_key, 'a');
    assert.notEqual(coordinates?.model_call_id, callId);
    assert.equal(staged, true);
  });

  test('malformed_coordinates: not of the wire form', async () => {
    const { coordinates } = await faulty({ kind: 'malformed_coordinates' });
    assert.notEqual(coordinates, undefined);
    assert.throws(() => validCoordinates(coordinates), { message: 'digest_version: expected 2' });
  });

  test('diverging_lengths: of the wire form, but prev + delta is not cum', async () => {
    const { coordinates } = await faulty({ kind: 'diverging_lengths' });
    validCoordinates(coordinates);
    assert.notEqual(Number(coordinates?.prev_len) + Number(coordinates?.delta_len), coordinates?.cum_len);
  });

  test('patch_coordinates: whatever is wanted', async () => {
    const { coordinates, events } = await faulty({
      kind: 'patch_coordinates',
      set: { weight_version: -1 },
      unset: ['digest'],
    });
    assert.equal(coordinates?.weight_version, -1);
    assert.equal('digest' in coordinates!, false);
    assert.equal(events.at(-1), 'failed');
  });

  test('root_instead: a root in answer to a candidate that holds', async () => {
    const first = await answerCall(worker.url, { owner: 'r', callId: 'c1', messages: [user('task')] });
    worker.arm({ kind: 'root_instead' });
    const messages = [...first.history, user('go on')];
    const second = await answerCall(worker.url, { owner: 'r', callId: 'c2', messages, parent: first });
    assert.equal(second.coordinates.parent_call_id, null);
    assert.equal(worker.stagedRecord('r/c2')?.mode, 'text');
  });
});

describe('faults of the answer', () => {
  test('abort, missing_id, no_choices, patch_completion: staged and acknowledged all the same', async () => {
    const answers = [];
    const faults: Fault[] = [
      { kind: 'abort' },
      { kind: 'missing_id' },
      { kind: 'no_choices' },
      { kind: 'patch_completion', set: { choices: 'none' }, unset: ['usage'] },
    ];
    for (const fault of faults) {
      const { answer, coordinates, staged, events } = await faulty(fault);
      assert.equal(staged, true);
      validCoordinates(coordinates);
      assert.equal(events.at(-1), 'acknowledged');
      answers.push(answer!.body);
    }
    const [abort, missingId, noChoices, patched] = answers;
    assert.equal((abort!.choices as { finish_reason: string }[])[0]?.finish_reason, 'abort');
    assert.equal('id' in missingId!, false);
    assert.deepEqual(noChoices?.choices, []);
    assert.equal(patched?.choices, 'none');
    assert.equal('usage' in patched!, false);
  });

  test('status: any status with any body, nothing admitted', async () => {
    const plain = await faulty({ kind: 'status', status: 500 });
    assert.equal(plain.answer?.status, 500);
    assert.deepEqual(errorOf(plain.answer!.body), {
      message: 'told to answer 500',
      type: 'InternalServerError',
      param: null,
      code: 500,
    });
    const body = { error: { message: 'slow down', code: 429 } };
    const limited = await faulty({ kind: 'status', status: 429, retry_after: 7, body });
    assert.equal(limited.answer?.status, 429);
    assert.equal(limited.answer?.headers.get('retry-after'), '7');
    assert.deepEqual(limited.answer?.body, body);
    assert.deepEqual(limited.events, ['fault', 'refused']);
    assert.equal(limited.staged, false);
  });

  test('status: text that is no JSON, with headers of its own', async () => {
    worker.arm({ kind: 'status', status: 200, body: '<html>', headers: { 'content-type': 'text/html' } });
    const response = await postJson(`${worker.url}/v1/chat/completions`, { messages: [user('x')] });
    assert.equal(response.headers.get('content-type'), 'text/html');
    assert.equal(await response.text(), '<html>');
  });

  test('length_refusal: the refusal of section 5, whatever the length', async () => {
    const { answer, staged } = await faulty({ kind: 'length_refusal', input_tokens: 200_000 });
    assert.equal(answer?.status, 400);
    const { message, ...rest } = errorOf(answer!.body);
    assert.deepEqual(rest, { type: 'invalid_request_error', param: 'input_tokens', code: 400 });
    assert.match(message, /maximum context length .* 131072 tokens.* 200000 input tokens/);
    assert.equal(staged, false);
  });
});

describe('faults of the connection', () => {
  test('drop_before_answer: no answer, nothing admitted', async () => {
    const { answer, staged, events } = await faulty({ kind: 'drop_before_answer' });
    assert.equal(answer, null);
    assert.equal(staged, false);
    assert.deepEqual(events, ['fault', 'refused']);
  });

  test('stage_and_die: no answer, but staged', async () => {
    const { answer, staged, events } = await faulty({ kind: 'stage_and_die' });
    assert.equal(answer, null);
    assert.equal(staged, true);
    assert.deepEqual(events, ['fault', 'admitted', 'staged', 'failed']);
  });

  test('drop_mid_body: a head and half of the body, staged', async () => {
    const callId = `c${calls++}`;
    worker.arm({ kind: 'drop_mid_body' });
    const response = await postJson(
      `${worker.url}/v1/chat/completions`,
      bodyOf({ owner: 'a', callId, messages: [user('task')] }),
    );
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
    assert.notEqual(worker.stagedRecord(`a/${callId}`), undefined);
  });

  test('drop_mid_body of a stream', async () => {
    worker.arm({ kind: 'drop_mid_body' });
    const response = await postJson(`${worker.url}/v1/chat/completions`, { messages: [user('x')], stream: true });
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    await assert.rejects(response.text());
  });
});

describe('late answers', () => {
  test('hold: staged, and answered when released', async () => {
    const order: string[] = [];
    const running = faulty({ kind: 'hold' }).then((result) => {
      order.push('answered');
      return result;
    });
    const [held] = await worker.whenHeld(1);
    assert.equal(held?.at, 'answer');
    assert.notEqual(worker.stagedRecord(`a/${held?.model_call_id}`), undefined);
    assert.ok(
      !worker.log().some((event) => event.event === 'acknowledged' && event.model_call_id === held?.model_call_id),
    );
    order.push('released');
    assert.equal(worker.release({ attempt: 'a' }), 1);
    validCoordinates((await running).coordinates);
    assert.deepEqual(order, ['released', 'answered']);
  });

  test('at the admission nothing is staged yet', async () => {
    const running = faulty({ kind: 'hold', wait_at: 'admission' });
    const [held] = await worker.whenHeld(1);
    assert.equal(worker.stagedRecord(`a/${held?.model_call_id}`), undefined);
    worker.release();
    assert.equal((await running).staged, true);
  });

  test('late: after its delay, with any other fault too', async () => {
    const { answer, coordinates, staged } = await faulty({ kind: 'lose_acknowledgement', delay_ms: 5 });
    assert.equal(answer?.status, 200);
    assert.equal(coordinates, undefined);
    assert.equal(staged, true);
    validCoordinates((await faulty({ kind: 'late', delay_ms: 5 })).coordinates);
  });

  test('a call whose client went away is staged, and not acknowledged', async () => {
    await withWorker({}, async (own) => {
      own.arm({ kind: 'hold' });
      const abort = new AbortController();
      const running = fetch(`${own.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(bodyOf({ owner: 'a', callId: 'c1', messages: [user('task')] })),
        signal: abort.signal,
      });
      await own.whenHeld(1);
      abort.abort();
      await assert.rejects(running);
      while ((await connections(own)) > 0) await setImmediate();
      own.release();
      while (own.log().length < 4) await setImmediate();
      assert.deepEqual(
        own.log().map(({ event }) => event),
        ['fault', 'admitted', 'staged', 'client_gone'],
      );
    });
  });

  test('closing the worker lets held calls go', async () => {
    await withWorker({}, async (own) => {
      own.arm({ kind: 'hold' });
      const running = postChat(own.url, { messages: [user('x')] }).then(
        () => 'answered',
        () => 'cut off',
      );
      await own.whenHeld(1);
      await own.close();
      assert.match(await running, /answered|cut off/);
      assert.deepEqual(own.held(), []);
    });
  });
});

describe('steering over HTTP', () => {
  const post = async (path: string, body: unknown) => {
    const response = await postJson(worker.url + path, body);
    return { status: response.status, body: (await response.json()) as JsonObject };
  };

  test('script, weights, faults, state', async () => {
    await post('/control/weights', { version: 12 });
    await post('/control/script', { answers: [{ content: 'scripted' }] });
    const armed = await post('/control/faults', { faults: [{ kind: 'missing_id', match: { attempt: 'nobody' } }] });
    assert.deepEqual(armed.body, {
      weight_version: 12,
      script_remaining: 1,
      faults: [{ kind: 'missing_id', match: { attempt: 'nobody' } }],
      held: [],
    });
    const { completion, coordinates } = await answerCall(worker.url, {
      owner: 'h',
      callId: 'c1',
      messages: [user('x')],
    });
    assert.equal(coordinates.weight_version, 12);
    assert.equal((completion.choices as { message: JsonObject }[])[0]?.message.content, 'scripted');
    const cleared = await post('/control/faults', { clear: true });
    assert.deepEqual(cleared.body.faults, []);
    const state = (await (await fetch(`${worker.url}/control/state`)).json()) as JsonObject;
    assert.deepEqual(state, cleared.body);
  });

  test('held calls can be waited for and released', async () => {
    await post('/control/faults', { faults: [{ kind: 'hold' }] });
    const waiting = fetch(`${worker.url}/control/held?at_least=1&wait_s=30`).then((response) => response.json());
    const running = postChat(worker.url, bodyOf({ owner: 'h', callId: 'c2', messages: [user('x')] }));
    assert.deepEqual(await waiting, { held: [{ capture_key: 'h', model_call_id: 'c2', at: 'answer' }] });
    assert.deepEqual((await post('/control/release', {})).body, { released: 1 });
    assert.equal((await running).status, 200);
    const nobody = await (await fetch(`${worker.url}/control/held?at_least=1&wait_s=0`)).json();
    assert.deepEqual(nobody, { held: [] });
  });

  test('what is not understood is refused with the field', async () => {
    for (const [path, body, field] of [
      ['/control/faults', { faults: [{ kind: 'explode' }] }, /faults/],
      ['/control/script', { answers: [{ text: 'x' }] }, /text/],
      ['/control/weights', { version: -1 }, /version/],
      ['/control/release', { who: 'x' }, /who/],
    ] as const) {
      const answer = await post(path, body);
      assert.equal(answer.status, 400);
      assert.match(errorOf(answer.body).message, field);
    }
  });

  test('models and health can fail too', async () => {
    worker.arm({ kind: 'status', status: 503, route: 'health' }, { kind: 'drop_before_answer', route: 'models' });
    assert.equal((await fetch(`${worker.url}/health`)).status, 503);
    await assert.rejects(fetch(`${worker.url}/v1/models`));
    assert.equal((await fetch(`${worker.url}/health`)).status, 200);
    assert.equal((await fetch(`${worker.url}/v1/models`)).status, 200);
  });
});
