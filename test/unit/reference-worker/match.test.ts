import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallFacts, type CallMatch, matches } from '../../../src/reference-worker/match.ts';

const facts: CallFacts = {
  route: 'chat',
  attempt: 'a',
  modelCallId: 'c1',
  model: 'policy',
  callIndex: 4,
  attemptIndex: 2,
  turn: 1,
  lastText: 'please look',
  lastRole: 'tool',
  hasTools: true,
};

const yes: CallMatch = {
  attempt: 'a',
  model_call_id: 'c1',
  model: 'policy',
  captured: true,
  call_index: 4,
  attempt_index: 2,
  turn: 1,
  contains: 'look',
  last_role: 'tool',
  has_tools: true,
};
const no: CallMatch = {
  attempt: 'b',
  model_call_id: 'c2',
  model: 'other',
  captured: false,
  call_index: 0,
  attempt_index: 0,
  turn: 0,
  contains: 'Look',
  last_role: 'user',
  has_tools: false,
};

test('nothing is for every call', () => {
  assert.equal(matches(undefined, facts), true);
  assert.equal(matches({}, facts), true);
});

test('every member must hold', () => {
  assert.equal(matches(yes, facts), true);
  for (const key of Object.keys(no) as (keyof CallMatch)[]) {
    assert.equal(matches({ [key]: yes[key] }, facts), true, key);
    assert.equal(matches({ ...yes, [key]: no[key] }, facts), false, key);
  }
});

test('an uncaptured call has no attempt', () => {
  assert.equal(matches({ captured: false }, { ...facts, attempt: null }), true);
  assert.equal(matches({ attempt: 'a' }, { ...facts, attempt: null }), false);
});
