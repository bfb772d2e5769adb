import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evidenceOf } from '../../src/lineage/evidence.ts';
import { explainRoot } from '../../src/lineage/explain-root.ts';
import { type StoredSketch, sketchJson, sketchOf } from '../../src/lineage/sketch.ts';
import type { EngineMessage } from '../../src/protocol/conversation.ts';
import { whyRoot } from '../../src/protocol/wire/ledger.ts';
import { assistantMessage, history } from '../unit/lineage/arbitraries.ts';

const sketch = (message: EngineMessage) => sketchOf(message, evidenceOf(message, 'required'));

/** Records of a chain of calls: every assistant turn of the history was served by a call. */
function recordsOf(messages: readonly EngineMessage[]): StoredSketch[] {
  const records: StoredSketch[] = [];
  let from = 0;
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const items = messages.slice(from, at + 1).map(sketch);
    records.push({
      callId: `c${at}`,
      parentCallId: records.at(-1)?.callId ?? null,
      renderDigest: 'r',
      sketchJson: sketchJson(items, { model: 'm' }),
    });
    from = at + 1;
  }
  return records;
}

const why = (records: StoredSketch[], request: readonly EngineMessage[]) =>
  whyRoot.parse(
    explainRoot({
      rootedBy: { by: 'search' },
      items: request.map(sketch),
      renderDigest: 'r',
      renderKeys: { model: 'm' },
      records,
    }),
  );

test('a changed item is found where it is, from the sketches of the records alone', () => {
  fc.assert(
    fc.property(history, assistantMessage, fc.nat(), (messages, turn, place) => {
      const recorded = [...messages, turn];
      const at = place % messages.length;
      const changed = {
        ...(recorded[at] as EngineMessage),
        content: 'SECRET and unlike anything else',
      } as EngineMessage;
      const request: EngineMessage[] = [...recorded.with(at, changed), { role: 'user', content: 'go on' }];
      const found = why(recordsOf(recorded), request);
      assert.equal(found.cause, 'history_differs');
      assert.equal(found.index, at);
      assert.equal(found.role, changed.role);
      assert.ok(['text', 'media'].includes(String(found.part)), JSON.stringify(found));
      assert.ok(!JSON.stringify(found).includes('SECRET'));
    }),
  );
});

test('any request against any records has an explanation, and sketches hold no text', () => {
  fc.assert(
    fc.property(fc.array(history, { maxLength: 3 }), history, (recorded, request) => {
      const records = recorded.flatMap((messages, attempt) =>
        recordsOf(messages).map((record) => ({
          ...record,
          callId: `${attempt}.${record.callId}`,
          parentCallId: record.parentCallId === null ? null : `${attempt}.${record.parentCallId}`,
        })),
      );
      const found = why(records, request);
      assert.equal(found.cause === 'first_call', records.length === 0);
      assert.equal(typeof found.explanation, 'string');
      for (const { role, content } of request)
        if (typeof content === 'string' && content.length > 40)
          assert.ok(
            !sketchJson([sketch({ role: role === 'system' ? 'system' : 'user', content })], {}).includes(content),
          );
    }),
  );
});
