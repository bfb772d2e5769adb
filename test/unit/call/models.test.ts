import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { buildModelList } from '../../../src/call/models.ts';
import type { Context } from '../../../src/context.ts';
import type { SendOutcome } from '../../../src/worker/send.ts';

/** A context with these workers; each answers by its name, and tells how long it was to be waited for. */
function world(names: string[], get: (name: string, timeoutMs: number) => Promise<SendOutcome>): Context {
  const workers = {
    order: () => names,
    get: (name: string, _path: string, timeoutMs: number) => get(name, timeoutMs),
  };
  return { workers } as unknown as Context;
}

const list = '{"object":"list","data":[{"id":"org/m"}]}';
const answer: SendOutcome = { kind: 'response', status: 200, headers: {}, body: Buffer.from(list) };
const silence: SendOutcome = {
  kind: 'lost',
  detail: 'UND_ERR_HEADERS_TIMEOUT: Headers Timeout Error',
  headSeen: false,
};

function mockClock(t: TestContext) {
  let nowMs = 1000;
  t.mock.method(performance, 'now', () => nowMs);
  return {
    tick(ms: number) {
      nowMs += ms;
    },
  };
}

describe('model list', () => {
  test('workers that do not answer are waited for five seconds in all, not each', async (t) => {
    const clock = mockClock(t);
    const waits: number[] = [];
    const models = buildModelList(
      world(['a', 'b', 'c', 'd', 'e'], async (_name, timeoutMs) => {
        waits.push(timeoutMs);
        clock.tick(timeoutMs);
        return silence;
      }),
    );
    assert.equal(await models.list(), '{"object":"list","data":[]}');
    assert.deepEqual(waits, [2000, 2000, 1000]);
  });

  test('the next worker is asked where one is silent, and the list stays when all are', async (t) => {
    const clock = mockClock(t);
    let up = true;
    const models = buildModelList(world(['a', 'b'], async (name) => (up && name === 'b' ? answer : silence)));
    assert.equal(await models.list(), list);
    up = false;
    clock.tick(10_000);
    assert.equal(await models.list(), list);
    assert.equal(await models.find('org/m'), '{"id":"org/m"}');
    assert.equal(await models.find('org'), null);
  });

  test('agents that ask at once cause one question', async () => {
    let asked = 0;
    const models = buildModelList(
      world(['a'], async () => {
        asked += 1;
        return answer;
      }),
    );
    assert.deepEqual(await Promise.all([models.list(), models.list(), models.list()]), [list, list, list]);
    assert.equal(asked, 1);
  });
});
