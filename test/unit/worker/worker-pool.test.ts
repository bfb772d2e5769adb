import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { WorkerPool } from '../../../src/worker/worker-pool.ts';

/** What counts against a worker (design, "Deadlines and shedding"). */
describe('health of a worker', () => {
  const seen: string[] = [];
  const pool = new WorkerPool({
    urls: ['http://127.0.0.1:1'],
    apiKey: null,
    apiKeys: {},
    connectMs: 100,
    healthMs: 3_600_000,
    answerBytes: 1_000_000,
    events: { workerError: (kind) => seen.push(kind), workerHealth: (_worker, up) => seen.push(up ? 'up' : 'down') },
  });
  after(() => pool.close());
  const [worker] = pool.workers;
  assert.ok(worker);
  const response = (status: number) => ({ kind: 'response', status, headers: {}, body: Buffer.alloc(0) }) as const;
  const lost = (detail: string, headSeen = false) => ({ kind: 'lost', detail, headSeen }) as const;

  test('a worker that is slow, or that we stopped waiting for, is no failed one', () => {
    pool.note(worker, lost('UND_ERR_HEADERS_TIMEOUT: Headers Timeout Error'));
    pool.note(worker, lost('UND_ERR_BODY_TIMEOUT: Body Timeout Error', true));
    pool.note(worker, lost('cancelled'));
    assert.equal(worker.healthy, true);
    assert.deepEqual(seen.splice(0), []);
  });

  test('a lost connection before the head counts at once, one inside an answer does not', () => {
    pool.note(worker, lost('ECONNRESET: read', true));
    assert.equal(worker.healthy, true);
    pool.note(worker, lost('ECONNRESET: read'));
    assert.equal(worker.healthy, false);
    assert.deepEqual(seen.splice(0), ['lost', 'lost', 'down']);
    pool.note(worker, response(200));
    assert.deepEqual(seen.splice(0), ['up']);
  });

  test('5xx counts the third time in a row; 4xx is an answer', () => {
    for (const status of [500, 503, 400, 500, 502]) pool.note(worker, response(status));
    assert.equal(worker.healthy, true);
    pool.note(worker, response(504));
    assert.equal(worker.healthy, false);
    assert.deepEqual(seen.splice(0), ['down']);
  });
});
