import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RolloutOutcome } from '../../src/trainer/index.ts';
import { type RandomRollout, randomRollout } from '../support/random-worlds.ts';
import { buildWorld, runWorld, selected, type World, type WorldCall } from '../support/trainer-world.ts';

type Rows = Extract<RolloutOutcome, { kind: 'rows' }>;

function returned(world: World, { accepted, keepsIds }: RandomRollout, rename: (id: string) => string = (id) => id) {
  const output = accepted.flatMap((callId, at) => {
    const items = world.items(rename(callId)) as { id?: string }[];
    return keepsIds[at] ? items : items.map(({ id: _, ...item }) => item);
  });
  return { response: { id: 'harness', output }, reward: 1 };
}

async function rowsOf(world: World, result: object): Promise<Rows> {
  const outcome = await runWorld(world, { result: { ...result } });
  assert.equal(outcome.kind, 'rows', outcome.kind === 'masked' ? JSON.stringify(outcome.reasons) : '');
  return outcome as Rows;
}

const ancestry = (calls: readonly WorldCall[], id: string): WorldCall[] => {
  const call = calls.find((one) => one.id === id) as WorldCall;
  return call.parent === undefined ? [call] : [...ancestry(calls, call.parent), call];
};

test('every generated token of every accepted call carries loss exactly once; everything else is exact context without loss', async () => {
  await fc.assert(
    fc.asyncProperty(randomRollout, async (rollout) => {
      const world = buildWorld(rollout.calls);
      const outcome = await rowsOf(world, returned(world, rollout));
      assert.deepEqual(selected(outcome), rollout.accepted);

      const parents = new Set(
        rollout.calls.filter((call) => rollout.accepted.includes(call.id)).map((call) => call.parent),
      );
      const endpoints = rollout.accepted.filter((id) => !parents.has(id));
      assert.deepEqual(new Set(outcome.rows.map((row) => row.spans.at(-1)?.callId)), new Set(endpoints));
      assert.equal(outcome.rows.length, endpoints.length);

      const lossOf = new Map<string, number>();
      for (const row of outcome.rows) {
        const line = ancestry(rollout.calls, row.spans.at(-1)?.callId as string);
        assert.deepEqual(
          row.spans.map((span) => span.callId),
          line.map((call) => call.id),
        );
        assert.deepEqual(
          row.tokenIds,
          line.flatMap((call) => [...(call.prompt ?? []), ...(call.generated ?? [])]),
        );
        assert.deepEqual(
          row.logprobs,
          line.flatMap((call) => [...(call.prompt ?? []).map(() => 0), ...(call.logprobs ?? [])]),
        );
        assert.equal(row.lossMask.length, row.tokenIds.length);
        for (const [at, call] of line.entries()) {
          const { from, generatedFrom, to } = row.spans[at] as Rows['rows'][number]['spans'][number];
          assert.ok(row.lossMask.slice(from, generatedFrom).every((mask) => mask === 0));
          const loss = row.lossMask.slice(generatedFrom, to).reduce((sum, mask) => sum + mask, 0);
          assert.ok(loss === 0 || loss === call.generated?.length);
          lossOf.set(call.id, (lossOf.get(call.id) ?? 0) + loss);
        }
      }
      const wanted = rollout.accepted.map((id) => [
        id,
        rollout.calls.find((call) => call.id === id)?.generated?.length,
      ]);
      assert.deepEqual([...lossOf].sort(), wanted.sort());
    }),
    { numRuns: 200 },
  );
});

test('the loss of a shared call is in the first row that holds it, and rows are in the order of roots, then endpoints', async () => {
  await fc.assert(
    fc.asyncProperty(randomRollout, async (rollout) => {
      const world = buildWorld(rollout.calls);
      const { rows } = await rowsOf(world, returned(world, rollout));
      const seen = new Set<string>();
      for (const row of rows) {
        for (const span of row.spans) {
          assert.equal(span.withLoss, !seen.has(span.callId));
          seen.add(span.callId);
        }
      }
      const place = (id: string | undefined) => rollout.accepted.indexOf(id as string);
      const places = rows.map(({ spans }) => [place(spans[0]?.callId), place(spans.at(-1)?.callId)] as const);
      const sorted = [...places].sort(([a, b], [c, d]) => a - c || b - d);
      assert.deepEqual(places, sorted);
    }),
    { numRuns: 200 },
  );
});

test('other names for the calls change nothing but the names', async () => {
  await fc.assert(
    fc.asyncProperty(randomRollout, fc.array(fc.nat(), { minLength: 14, maxLength: 14 }), async (rollout, salts) => {
      const rename = (id: string) => `${(salts[Number(id.slice(1))] ?? 0).toString(36)}-${id}`;
      const renamed = rollout.calls.map((call) => ({
        ...call,
        id: rename(call.id),
        ...(call.parent === undefined ? {} : { parent: rename(call.parent) }),
      }));
      const world = buildWorld(rollout.calls);
      const other = buildWorld(renamed);
      const before = await rowsOf(world, returned(world, rollout));
      const after = await rowsOf(other, returned(other, rollout, rename));
      const shown = ({ rows }: Rows, name: (id: string) => string) =>
        rows.map((row) => [
          row.rowId,
          row.tokenIds,
          row.lossMask,
          row.logprobs,
          row.spans.map((span) => [name(span.callId), span.weightVersion]),
        ]);
      assert.deepEqual(
        shown(after, (id) => id),
        shown(before, rename),
      );
    }),
    { numRuns: 100 },
  );
});

test('another commit order changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(randomRollout, fc.infiniteStream(fc.nat()), async (rollout, order) => {
      const world = buildWorld(rollout.calls);
      const { rows } = await rowsOf(world, returned(world, rollout));
      const { manifest } = world.ledger;
      const shuffled = manifest.records
        .map((record) => ({ record, key: order.next().value as number }))
        .sort((a, b) => a.key - b.key);
      manifest.records = shuffled.map(({ record }) => record);
      assert.deepEqual((await rowsOf(world, returned(world, rollout))).rows, rows);
    }),
    { numRuns: 100 },
  );
});

test('a history that could have come from either of two calls is an error that names both', async () => {
  await fc.assert(
    fc.asyncProperty(randomRollout, fc.nat(), async (rollout, pick) => {
      const callId = rollout.accepted[pick % rollout.accepted.length] as string;
      const twin = rollout.calls.find((call) => call.id === callId) as WorldCall;
      const output = (twin.output as { id: string }[]).map((item) => ({ ...item, id: `${item.id}_again` }));
      const world = buildWorld([
        ...rollout.calls,
        { ...twin, id: 'again', generated: [7, 7, 7], logprobs: [0, 0, 0], output },
      ]);
      const stripped = { ...rollout, keepsIds: rollout.keepsIds.map(() => false) };
      const outcome = await runWorld(world, { result: returned(world, stripped) });
      assert.equal(outcome.kind, 'masked');
      const [reason] = outcome.kind === 'masked' ? outcome.reasons : [];
      assert.equal(reason?.code, 'item_ambiguous');
      assert.match(reason?.message ?? '', new RegExp(`matches two calls, (${callId} and again|again and ${callId}),`));
    }),
    { numRuns: 100 },
  );
});
