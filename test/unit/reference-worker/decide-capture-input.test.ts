import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type AdmissionEvidence, decideCaptureInput } from '../../../src/reference-worker/decide-capture-input.ts';
import { evidenceOf, type HandMessage, RENDER_DIGEST, summaryOf } from '../../support/capture-by-hand.ts';

const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
const task: HandMessage = { role: 'user', content: 'task' };
const turn: HandMessage = { role: 'assistant', content: null, tool_calls: [call] };
const result: HandMessage = { role: 'tool', content: 'seen', tool_call_id: 'call_1' };
const messages = [task, turn, result];
const items = evidenceOf(messages);

/** A candidate that holds: history task, turn; then the result. */
const good: AdmissionEvidence = {
  mode: 'candidate',
  parentCallId: 'parent',
  requestReplay: { schema_version: 3, normalization_version: 1, items, render_digest: RENDER_DIGEST },
  candidateReplay: summaryOf(items.slice(0, 2)),
  sourceMatch: 'exact',
};

const root = { kind: 'root', warning: null };
const decide = (change: Partial<AdmissionEvidence>, given: readonly { role: string }[] = messages, allow = true) =>
  decideCaptureInput({ ...good, ...change }, given, allow);
const withItems = (changed: typeof items) => ({ requestReplay: { ...good.requestReplay!, items: changed } });

describe('decide_capture_input, rule by rule', () => {
  test('1: another mode is used as it is, whatever the evidence', () => {
    assert.deepEqual(decide({ mode: 'text', requestReplay: null }), { kind: 'as_is', mode: 'text' });
    assert.deepEqual(decide({ mode: 'token_in', requestReplay: null }), { kind: 'as_is', mode: 'token_in' });
  });

  test('2: missing current evidence is an error, also for a root', () => {
    const error = { kind: 'error', message: 'Missing current source/render evidence' };
    const noRender = { ...good.requestReplay!, render_digest: null };
    assert.deepEqual(decide({ requestReplay: null, parentCallId: null, candidateReplay: null }), error);
    assert.deepEqual(decide({ requestReplay: noRender, parentCallId: null, candidateReplay: null }), error);
    assert.deepEqual(decide({ requestReplay: noRender, candidateReplay: null, sourceMatch: null }), error);
  });

  test('3: no parent is a root', () => {
    assert.deepEqual(decide({ parentCallId: null, candidateReplay: null, sourceMatch: null }), root);
  });

  test('4: missing evidence of the predecessor is an error, before anything is compared', () => {
    const error = { kind: 'error', message: 'Missing predecessor source/render evidence' };
    assert.deepEqual(decide({ candidateReplay: null, sourceMatch: null }), error);
    assert.deepEqual(decide({ candidateReplay: summaryOf(items.slice(0, 2), null), sourceMatch: null }), error);
  });

  test('4: a missing statement is an error, also where the histories differ', () => {
    const error = { kind: 'error', message: 'Missing source match evidence' };
    assert.deepEqual(decide({ sourceMatch: null }), error);
    assert.deepEqual(decide({ sourceMatch: null, candidateReplay: summaryOf([]) }), error);
  });

  test('5: another render digest is a root', () => {
    assert.deepEqual(decide({ candidateReplay: summaryOf(items.slice(0, 2), 'b'.repeat(64)) }), root);
  });

  test('5: a candidate longer than the request is a root', () => {
    assert.deepEqual(decide({ candidateReplay: { ...summaryOf(items), item_count: 4 } }), root);
  });

  test('5: another prefix is a root', () => {
    const edited = evidenceOf([{ role: 'user', content: 'another task' }, turn, result]);
    assert.deepEqual(decide(withItems(edited)), root);
    assert.deepEqual(decide({ candidateReplay: { ...good.candidateReplay!, item_count: 1 } }), root);
  });

  test('5: the second digest counts only with its statement and a renderer that allows it', () => {
    const echoed = evidenceOf([task, { ...turn, content: '' }, result]);
    const change = withItems(echoed);
    assert.deepEqual(decide({ ...change, sourceMatch: 'exact' }), root);
    assert.deepEqual(decide({ ...change, sourceMatch: 'empty_tool_content' }, messages, false), root);
    assert.deepEqual(decide({ ...change, sourceMatch: 'empty_tool_content' }), { kind: 'continuation' });
    assert.deepEqual(decide({ ...change, sourceMatch: 'not_spoken' }), { kind: 'continuation' });
    assert.deepEqual(decide({ ...change, sourceMatch: 'not_spoken' }, messages, false), root);
  });

  test('5: the statement empty_tool_content does not hurt an exact match', () => {
    assert.deepEqual(decide({ sourceMatch: 'empty_tool_content' }, messages, false), { kind: 'continuation' });
  });

  test('6: nothing after the candidate is a root with a warning', () => {
    const outcome = decide({ candidateReplay: summaryOf(items) });
    assert.equal(outcome.kind, 'root');
    assert.match(String(outcome.kind === 'root' && outcome.warning), /nothing follows/);
  });

  test('6: a role other than user or tool after the candidate is a root with a warning', () => {
    for (const role of ['system', 'assistant', 'developer'] as const) {
      const after = { schema_version: 3 as const, role, digest: 'c'.repeat(64), empty_tool_content_digest: null };
      const outcome = decide(withItems([...items, after]), [...messages, { role }]);
      assert.equal(outcome.kind, 'root');
      assert.match(String(outcome.kind === 'root' && outcome.warning), new RegExp(`role ${role} follows`));
    }
  });

  test('6 comes before 7: messages that do not line up change nothing of it', () => {
    const outcome = decide({ candidateReplay: summaryOf(items) }, []);
    assert.match(String(outcome.kind === 'root' && outcome.warning), /nothing follows/);
  });

  test('7: no assistant message before the boundary is a root with a warning', () => {
    for (const given of [[task, result], [task, task, result], [result], []]) {
      const outcome = decide({}, given);
      assert.equal(outcome.kind, 'root');
      assert.match(String(outcome.kind === 'root' && outcome.warning), /no assistant message/);
    }
  });

  test('7: other roles after the boundary are a root with a warning', () => {
    const outcome = decide({}, [task, turn, { role: 'user' }]);
    assert.equal(outcome.kind, 'root');
    assert.match(String(outcome.kind === 'root' && outcome.warning), /roles after the boundary/);
  });

  test('7: the order of the roles counts', () => {
    const more = evidenceOf([...messages, { role: 'user', content: 'and' }]);
    const swapped = [task, turn, { role: 'user' }, { role: 'tool' }];
    assert.equal(decide(withItems(more), swapped).kind, 'root');
    assert.equal(decide(withItems(more), [task, turn, { role: 'tool' }, { role: 'user' }]).kind, 'continuation');
  });

  test('8: else a continuation, also where the engine counts more messages than items before the boundary', () => {
    assert.deepEqual(decide({}), { kind: 'continuation' });
    assert.deepEqual(decide({}, [{ role: 'system' }, ...messages]), { kind: 'continuation' });
  });
});
