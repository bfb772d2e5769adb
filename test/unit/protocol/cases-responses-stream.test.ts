import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineAnswer } from '../../../src/protocol/conversation.ts';
import { anyRequest, type SseEvent, served, streamBytes, streamed } from '../../support/responses-dialect.ts';

/** Conversion cases 6.E: the event stream of a finished answer. */

const CALL = { id: 'call_a', name: 'f', arguments: '{"a":1}' };
const REQUEST = anyRequest({
  include: ['reasoning.encrypted_content'],
  tools: [
    { type: 'custom', name: 'patch' },
    { type: 'tool_search', execution: 'client' },
    { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'g' }] },
  ],
});
const EVERYTHING: Partial<EngineAnswer> = {
  reasoning: 'think',
  content: 'text',
  refusal: 'but no',
  toolCalls: [
    CALL,
    { id: 'call_b', name: 'patch', arguments: '{"input":"diff"}' },
    { id: 'call_c', name: 'tool_search', arguments: '{"query":"q"}' },
    { id: 'call_d', name: 'ns__g', arguments: '' },
  ],
};

const names = (events: readonly SseEvent[]) => events.map(({ event }) => event.replace(/^response\./, ''));

test('C106 C107 every item and part is opened, told and closed, in this order', () => {
  assert.deepEqual(names(streamed(REQUEST, EVERYTHING)), [
    'created',
    'in_progress',
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.done',
    'reasoning_summary_part.done',
    'content_part.added',
    'reasoning_text.delta',
    'reasoning_text.done',
    'content_part.done',
    'output_item.done',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'content_part.added',
    'refusal.delta',
    'refusal.done',
    'content_part.done',
    'output_item.done',
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
    'output_item.added',
    'custom_tool_call_input.delta',
    'custom_tool_call_input.done',
    'output_item.done',
    'output_item.added',
    'output_item.done',
    'output_item.added',
    'function_call_arguments.done',
    'output_item.done',
    'completed',
  ]);
});

test('C107 an empty answer is told completely', () => {
  assert.deepEqual(names(streamed(REQUEST, { content: null })), ['created', 'in_progress', 'completed']);
});

test('C108 events are numbered from 0 without gaps, and name their type twice', () => {
  streamed(REQUEST, EVERYTHING).forEach(({ event, data }, at) => {
    assert.equal(data.sequence_number, at);
    assert.equal(data.type, event);
    assert.equal('error' in data, false, 'a top-level error makes official clients throw');
  });
});

test('C94 the last event carries the very object of the JSON reply, and the items are its items', () => {
  const response = served(REQUEST, EVERYTHING);
  const events = streamed(REQUEST, EVERYTHING);
  assert.deepEqual(events.at(-1)?.data.response, response);
  const done = events.filter(({ event }) => event === 'response.output_item.done');
  assert.deepEqual(
    done.map(({ data }) => data.item),
    response.output,
  );
  assert.deepEqual(
    done.map(({ data }) => data.output_index),
    response.output.map((_, at) => at),
  );
});

test('C120 every event of an item names the same id and index', () => {
  const response = served(REQUEST, EVERYTHING);
  for (const { event, data } of streamed(REQUEST, EVERYTHING)) {
    if (data.output_index === undefined) continue;
    const item = response.output[data.output_index as number];
    assert.equal(data.item_id ?? (data.item as { id: string }).id, item?.id, event);
  }
});

test('an item is opened with its identity and without what its events fill', () => {
  const added = streamed(REQUEST, EVERYTHING).filter(({ event }) => event === 'response.output_item.added');
  const response = served(REQUEST, EVERYTHING);
  const [rs, msg, fc, ctc, tsc, ns] = response.output.map((item) => item.id);
  assert.deepEqual(
    added.map(({ data }) => data.item),
    [
      { id: rs, type: 'reasoning', summary: [], content: [], status: 'in_progress' },
      { id: msg, type: 'message', status: 'in_progress', role: 'assistant', content: [] },
      { id: fc, type: 'function_call', status: 'in_progress', call_id: 'call_a', name: 'f', arguments: '' },
      { id: ctc, type: 'custom_tool_call', status: 'in_progress', call_id: 'call_b', name: 'patch', input: '' },
      {
        id: tsc,
        type: 'tool_search_call',
        status: 'in_progress',
        call_id: 'call_c',
        execution: 'client',
        arguments: {},
      },
      {
        id: ns,
        type: 'function_call',
        status: 'in_progress',
        call_id: 'call_d',
        name: 'g',
        namespace: 'ns',
        arguments: '',
      },
    ],
  );
});

test('events have the members that typed clients require', () => {
  const events = streamed(REQUEST, EVERYTHING);
  const members = (event: string) =>
    Object.keys(events.find((each) => each.event === `response.${event}`)?.data ?? {}).sort();
  assert.deepEqual(members('output_text.delta'), [
    'content_index',
    'delta',
    'item_id',
    'logprobs',
    'output_index',
    'sequence_number',
    'type',
  ]);
  assert.ok(members('output_text.done').includes('logprobs'));
  assert.ok(members('function_call_arguments.done').includes('name'));
  assert.deepEqual(members('reasoning_summary_part.added'), [
    'item_id',
    'output_index',
    'part',
    'sequence_number',
    'summary_index',
    'type',
  ]);
  const created = events[0]?.data.response as Record<string, unknown>;
  assert.deepEqual([created.status, created.output, created.usage], ['in_progress', [], null]);
});

test('C110 the deltas of a text are the text, cut at code points', () => {
  const text = '😀'.repeat(5_000) + 'x\ud83d'.repeat(50);
  const events = streamed(REQUEST, { content: text, toolCalls: [{ ...CALL, arguments: text }] });
  for (const event of ['response.output_text.delta', 'response.function_call_arguments.delta']) {
    const deltas = events.filter((each) => each.event === event).map(({ data }) => data.delta as string);
    assert.equal(deltas.join(''), text);
    assert.ok(deltas.length > 1);
    for (const delta of deltas) assert.equal(/^[\udc00-\udfff]/.test(delta), false, 'a pair was cut');
  }
});

test('C118 a stream is frames and nothing else, and has no line separators inside', () => {
  const text = streamBytes(REQUEST, { content: 'a\u2028b\u2029c\r\nd' }).toString();
  assert.equal(/[\u2028\u2029\r]/.test(text), false);
  assert.ok(text.startsWith('event: response.created\n'));
  assert.equal(text.includes('[DONE]'), false);
});

test('what a request spells with line separators is repeated with escapes, in the first event and in the last', () => {
  const request = anyRequest();
  const repeated = new Map(request.replyContext.repeated).set('instructions', '"a\u2028b\u0085c"');
  const spelled = { ...request, replyContext: { ...request.replyContext, repeated } };
  assert.equal(/[\u2028\u0085]/.test(streamBytes(spelled).toString()), false);
  const responses = streamed(spelled).flatMap(({ data }) => data.response ?? []) as { instructions: string }[];
  assert.deepEqual(
    responses.map(({ instructions }) => instructions),
    Array(3).fill('a\u2028b\u0085c'),
  );
  assert.deepEqual(responses.at(-1), served(spelled));
});

test('a request that is spelled over several lines is repeated on one', () => {
  const request = anyRequest();
  const repeated = new Map(request.replyContext.repeated).set('metadata', '{\n  "a": "b"\n}');
  const spelled = { ...request, replyContext: { ...request.replyContext, repeated } };
  const last = streamed(spelled).at(-1)?.data.response as { metadata: object } | undefined;
  assert.deepEqual(last?.metadata, { a: 'b' });
});
