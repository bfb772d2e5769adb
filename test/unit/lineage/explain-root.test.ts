import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evidenceOf } from '../../../src/lineage/evidence.ts';
import { explainRoot, type RootedBy } from '../../../src/lineage/explain-root.ts';
import { renderDigest, renderKeyDigests } from '../../../src/lineage/render-digest.ts';
import { type StoredSketch, sketchJson, sketchOf } from '../../../src/lineage/sketch.ts';
import type { ReasoningPolicy } from '../../../src/lineage/types.ts';
import type { AssistantMessage, EngineMessage } from '../../../src/protocol/conversation.ts';
import type { WhyRoot } from '../../../src/protocol/wire/ledger.ts';
import { assistant, call, system, tool, user } from './support.ts';

type Fields = ReadonlyMap<string, string>;

const FIELDS: Fields = new Map([
  ['model', '"m"'],
  ['tools', '[{"type":"function","function":{"name":"bash"}}]'],
]);
const OTHER_TOOLS: Fields = new Map([...FIELDS, ['tools', '[]'], ['tool_choice', '"none"']]);

function digestOf(fields: Fields): string {
  const render = renderDigest(fields);
  assert.ok('digest' in render);
  return render.digest;
}

/** The records of an attempt, made as a commit makes them. */
class Attempt {
  readonly records: StoredSketch[] = [];
  private readonly itemCounts = new Map<string | null, number>([[null, 0]]);
  readonly policy: ReasoningPolicy;

  constructor(policy: ReasoningPolicy = 'required') {
    this.policy = policy;
  }

  /** Commits a call that continues `parentCallId`; returns the history that goes on from it. */
  commit(
    callId: string,
    parentCallId: string | null,
    request: readonly EngineMessage[],
    answer: AssistantMessage,
    fields: Fields = FIELDS,
  ): EngineMessage[] {
    const history = [...request, answer];
    const added = history.slice(this.itemCounts.get(parentCallId) as number);
    this.itemCounts.set(callId, history.length);
    this.records.push({
      callId,
      parentCallId,
      renderDigest: digestOf(fields),
      sketchJson: sketchJson(
        added.map((message) => this.sketch(message)),
        renderKeyDigests(fields),
      ),
    });
    return history;
  }

  why(request: readonly EngineMessage[], rootedBy: RootedBy = { by: 'search' }, fields: Fields = FIELDS): WhyRoot {
    const why = explainRoot({
      rootedBy,
      items: request.map((message) => this.sketch(message)),
      renderDigest: digestOf(fields),
      renderKeys: renderKeyDigests(fields),
      records: this.records,
    });
    const text = JSON.stringify(why);
    assert.ok(!text.includes('SECRET'), text);
    assert.equal(typeof why.explanation, 'string');
    return why;
  }

  private sketch(message: EngineMessage) {
    return sketchOf(message, evidenceOf(message, this.policy));
  }
}

/** Checks the named members of an explanation. */
function expect(why: WhyRoot, members: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(members))
    assert.deepEqual(why[key], value, `${key} of ${JSON.stringify(why)}`);
}

const PROMPT: readonly EngineMessage[] = [system('SECRET rules'), user('SECRET task')];
const ARGUMENTS = '{"command":"cd  && pwd  SECRET","timeout":"5000","not an identifier SECRET":1}';
const ANSWER = assistant({
  content: 'SECRET text',
  reasoning: 'SECRET reasoning',
  toolCalls: [call('call_1', 'Bash', ARGUMENTS), call('call_2', 'Read', '{"path":"SECRET"}')],
});
const DONE = assistant({ content: 'SECRET done' });
const RESULTS = [tool('call_1', 'SECRET one'), tool('call_2', 'SECRET two')];

/** c1 answers the prompt, c2 continues it. */
function twoCalls(policy?: ReasoningPolicy) {
  const attempt = new Attempt(policy);
  const first = attempt.commit('c1', null, PROMPT, ANSWER);
  const second = attempt.commit('c2', 'c1', [...first, ...RESULTS], DONE);
  return { attempt, first, second };
}

test('first_call: nothing was recorded before', () => {
  expect(new Attempt().why(PROMPT), { cause: 'first_call' });
});

test('history_differs: a changed turn names the part and both lengths', () => {
  const { attempt, first } = twoCalls();
  const changed = (answer: Partial<AssistantMessage>) => attempt.why([...PROMPT, { ...ANSWER, ...answer }, ...RESULTS]);
  const at = { cause: 'history_differs', model_call_id: 'c2', index: 2, role: 'assistant', turn_of: 'c1' };
  const withCalls = (...calls: AssistantMessage['toolCalls']) => changed({ toolCalls: calls });
  const second = ANSWER.toolCalls[1] as AssistantMessage['toolCalls'][number];

  expect(changed({ content: 'SECRET te' }), { ...at, part: 'text', lengths: { record: 11, request: 9 } });
  expect(changed({ reasoning: null }), { ...at, part: 'reasoning', lengths: { record: 16, request: 0 } });
  expect(changed({ reasoning: 'SECRET reasoning twice' }), {
    ...at,
    part: 'reasoning',
    lengths: { record: 16, request: 22 },
  });
  expect(changed({ content: 'x', reasoning: null }), { ...at, part: 'text', parts: ['text', 'reasoning'] });
  expect(changed({ refusal: 'SECRET' }), { ...at, part: 'refusal', lengths: { record: 0, request: 6 } });
  // C75: Claude Code trims what it runs.
  expect(
    withCalls(call('call_1', 'Bash', '{"command":"pwd  SECRET","timeout":5000,"not an identifier SECRET":1}'), second),
    {
      ...at,
      part: 'arguments',
      call_index: 0,
      arguments: ['command', 'timeout'],
      lengths: { record: ARGUMENTS.length, request: 69 },
    },
  );
  expect(withCalls(call('call_1', 'Bash', ARGUMENTS.replace('SECRET":1', 'SECRET":2')), second), {
    ...at,
    part: 'arguments',
    arguments: undefined,
  });
  // C58: an unknown tool is renamed, with arguments of another kind.
  expect(withCalls(call('call_1', 'invalid', '{"tool":"Bash","error":"SECRET"}'), second), {
    ...at,
    part: 'name',
    parts: ['name', 'arguments'],
    call_index: 0,
    lengths: { record: 4, request: 7 },
  });
  expect(withCalls(call('call_9', 'Bash', ARGUMENTS), second), { ...at, part: 'call_id', call_index: 0 });
  expect(withCalls(second, call('call_1', 'Bash', ARGUMENTS)), { ...at, part: 'order', call_index: 0 });
  expect(withCalls(...ANSWER.toolCalls, call('call_3', 'f', '')), {
    ...at,
    part: 'calls',
    lengths: { record: 2, request: 3 },
  });
  expect(attempt.why([...first, tool('call_1', 'SECRET one'), tool('call_2', 'SECRET other'), DONE, user('SECRET')]), {
    cause: 'history_differs',
    model_call_id: 'c2',
    index: 4,
    role: 'tool',
    part: 'text',
    lengths: { record: 10, request: 12 },
    turn_of: undefined,
  });
  expect(attempt.why([system('SECRET other rules'), user('SECRET task')]), { index: 0, role: 'system', part: 'text' });
});

test('history_differs: parts of a message', () => {
  const attempt = new Attempt();
  const picture = (url: string) =>
    ({ type: 'media', kind: 'image', json: JSON.stringify({ type: 'image_url', image_url: { url } }) }) as const;
  const text = { type: 'text', text: 'SECRET' } as const;
  attempt.commit('c1', null, [user([text, picture('SECRET1')])], assistant({ content: 'x' }));
  expect(attempt.why([user([text, picture('SECRET22')])]), {
    index: 0,
    role: 'user',
    part: 'media',
    lengths: { record: 50, request: 51 },
  });
  expect(attempt.why([user([picture('SECRET1'), text])]), { index: 0, part: 'order' });
  expect(attempt.why([user([text, text, picture('SECRET1')])]), {
    index: 0,
    part: 'text',
    lengths: { record: 6, request: 12 },
  });
  expect(attempt.why([user([text, picture('SECRET1')], { name: 'SECRET' })]), {
    index: 0,
    part: 'name',
    lengths: { record: 0, request: 6 },
  });
});

test('history_differs: a turn echoed only in part (C125)', () => {
  const { attempt } = twoCalls();
  const echo = (turn: Partial<AssistantMessage>) => attempt.why([...PROMPT, assistant(turn), user('SECRET go on')]);
  const { reasoning, content, toolCalls } = ANSWER;
  const at = { cause: 'history_differs', index: 2, part: 'partial_echo', turn_of: 'c1', served_items: 4 };
  expect(echo({ reasoning }), { ...at, echoed_items: 1 });
  expect(echo({ reasoning, content }), { ...at, echoed_items: 2 });
  expect(echo({ reasoning, content, toolCalls: toolCalls.slice(0, 1) }), {
    ...at,
    echoed_items: 3,
    explanation: 'The output of call c1 was echoed only up to item 3 of 4.',
  });
  // What is left out in the middle is no echo of the first items.
  expect(echo({ content, toolCalls }), { part: 'reasoning' });
  expect(echo({}), { part: 'text' });
});

test('history_differs: missing, inserted and moved items', () => {
  const { attempt, first, second } = twoCalls();
  const at = { cause: 'history_differs', model_call_id: 'c2' };
  // C60: the turn that called no tool is dropped.
  expect(attempt.why([...PROMPT, user('SECRET no tool calls found')]), {
    ...at,
    index: 2,
    role: 'assistant',
    part: 'missing',
    items: 1,
    turn_of: 'c1',
    lengths: { record: 6, request: 3 },
    explanation: 'At item 2 the turn of call c1 is missing.',
  });
  expect(attempt.why([...PROMPT, DONE, user('x')]), {
    ...at,
    index: 2,
    part: 'missing',
    items: 3,
    turn_of: 'c1',
  });
  expect(attempt.why([...PROMPT, user('SECRET note'), ...second.slice(2), user('x')]), {
    ...at,
    index: 2,
    role: 'user',
    part: 'inserted',
    items: 1,
  });
  expect(attempt.why([...first, ...RESULTS.toReversed(), DONE, user('x')]), {
    ...at,
    index: 3,
    role: 'tool',
    part: 'order',
  });
  expect(attempt.why([...first, user('SECRET one'), user('SECRET two'), DONE, user('x')]), {
    ...at,
    index: 3,
    role: 'user',
    part: 'role',
  });
});

test('history_differs: no turn of the request is wrong, but none is continued', () => {
  const { attempt, second } = twoCalls();
  expect(attempt.why(PROMPT), { cause: 'history_differs', index: 2, part: 'same_prompt', turn_of: 'c1' });
  expect(attempt.why(PROMPT.slice(0, 1)), { cause: 'history_differs', index: 1, role: 'user', part: 'cut_off' });
  expect(attempt.why([...second, user('SECRET'), assistant({ content: 'SECRET by another model' }), user('x')]), {
    cause: 'history_differs',
    model_call_id: 'c2',
    index: 7,
    role: 'assistant',
    part: 'unrecorded_turn',
  });
});

test('render_differs: names the keys of what shapes the prompt (C135)', () => {
  const { attempt, second } = twoCalls();
  expect(attempt.why([...second, user('SECRET')], { by: 'search' }, OTHER_TOOLS), {
    cause: 'render_differs',
    model_call_id: 'c2',
    keys: ['tool_choice', 'tools'],
  });
});

test('suffix_role: only user and tool messages can follow', () => {
  const { attempt, second } = twoCalls();
  expect(attempt.why([...second, user('SECRET'), system('SECRET late'), user('x')]), {
    cause: 'suffix_role',
    model_call_id: 'c2',
    index: 7,
    role: 'system',
  });
});

test('null and empty content beside calls are one turn, reasoning counts by policy', () => {
  const calls = [call('c', 'f', '{}')];
  const attempt = new Attempt('optional');
  attempt.commit('c1', null, [user('SECRET')], assistant({ reasoning: 'SECRET', toolCalls: calls }));
  const after = (turn: AssistantMessage) =>
    attempt.why([user('SECRET'), turn, tool('c', 'x')], { by: 'search' }, OTHER_TOOLS);
  const echo = assistant({ content: '', toolCalls: calls });
  expect(after(echo), { cause: 'render_differs', model_call_id: 'c1' });
  expect(after({ ...echo, reasoning: 'SECRET' }), { cause: 'render_differs' });
  expect(after({ ...echo, reasoning: 'SECRET other' }), {
    cause: 'history_differs',
    index: 1,
    part: 'reasoning',
    lengths: { record: 6, request: 12 },
  });
});

test('the nearest record has the longest common prefix; the latest one wins ties', () => {
  const attempt = new Attempt();
  const answer = (text: string) => assistant({ content: text });
  const one = attempt.commit('a1', null, [user('1')], answer('one'));
  attempt.commit('a2', 'a1', [...one, user('2')], answer('two'));
  attempt.commit('b1', null, [user('9')], answer('nine'));
  expect(attempt.why([...one, user('2'), answer('TWO'), user('3')]), { model_call_id: 'a2', index: 3 });
  expect(attempt.why([user('1'), answer('ONE'), user('2')]), { model_call_id: 'a2', index: 1, turn_of: 'a1' });
  expect(attempt.why([user('8')]), { model_call_id: 'b1', index: 0 });
  const orphan = { ...(attempt.records[1] as StoredSketch), callId: 'o', parentCallId: 'unknown' };
  attempt.records.push(orphan);
  expect(attempt.why([...one, user('2'), answer('TWO'), user('3')]), { model_call_id: 'a2' });
});

test('parent_header', () => {
  const { attempt, first, second } = twoCalls();
  expect(attempt.why(second, { by: 'parent_header' }), { cause: 'parent_header', model_call_id: undefined });
  expect(attempt.why([...second, user('x')], { by: 'named_parent', callId: 'c1' }), {
    cause: 'parent_header',
    reason: undefined,
    model_call_id: 'c1',
    extended_call_id: 'c2',
    explanation: 'The header names call c1, and the request extends call c2.',
  });
  expect(attempt.why([...first, user('x')], { by: 'named_parent', callId: 'c2' }), {
    cause: 'parent_header',
    model_call_id: 'c2',
    extended_call_id: 'c1',
  });
  expect(attempt.why([...second, user('x')], { by: 'named_parent', callId: 'c1' }, OTHER_TOOLS), {
    cause: 'parent_header',
    reason: 'history_differs',
    extended_call_id: undefined,
    part: 'unrecorded_turn',
    index: 5,
  });
  expect(attempt.why([...first, user('x')], { by: 'named_parent', callId: 'c1' }, OTHER_TOOLS), {
    cause: 'parent_header',
    reason: 'render_differs',
    keys: ['tool_choice', 'tools'],
  });
  expect(attempt.why([...first, system('x')], { by: 'named_parent', callId: 'c1' }), {
    cause: 'parent_header',
    reason: 'suffix_role',
    index: 3,
  });
  expect(attempt.why([user('x')], { by: 'named_parent', callId: null }), { cause: 'parent_header', reason: undefined });
});

test('rooted_by_worker and ambiguous', () => {
  const attempt = new Attempt();
  const answer = assistant({ content: 'SECRET same' });
  const history = attempt.commit('c1', null, PROMPT, answer);
  attempt.commit('c2', null, PROMPT, answer);
  attempt.commit('c3', null, PROMPT, answer, OTHER_TOOLS);
  expect(attempt.why([...history, user('x')], { by: 'ambiguous' }), { cause: 'ambiguous', candidates: ['c1', 'c2'] });
  expect(attempt.why([...history, user('x')], { by: 'worker', candidateCallId: 'c2' }), {
    cause: 'rooted_by_worker',
    model_call_id: 'c2',
  });
});
