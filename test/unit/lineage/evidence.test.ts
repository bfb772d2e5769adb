import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evidenceOf } from '../../../src/lineage/evidence.ts';
import type { EvidenceItem, ReasoningPolicy } from '../../../src/lineage/types.ts';
import type { EngineMessage, EnginePart } from '../../../src/protocol/conversation.ts';
import { assistant, call, system, tool, user } from './support.ts';

const text = (value: string): EnginePart => ({ type: 'text', text: value });
const media = (value: object | string, kind = 'image'): EnginePart => ({
  type: 'media',
  kind,
  json: typeof value === 'string' ? value : Buffer.from(JSON.stringify(value)),
});
const image = (url: string, rest: object = {}, part: object = {}) =>
  media({ type: 'image_url', image_url: { url, ...rest }, ...part });

const digest = (message: EngineMessage, policy: ReasoningPolicy = 'required') => evidenceOf(message, policy).digest;

test('shapes of one turn that render the same prompt have one digest', () => {
  const args = '{"cmd":"ls","n":1.0}';
  const equal: [string, EngineMessage, EngineMessage][] = [
    ['string, one text part', user('go'), user([text('go')])],
    ['string, one text part of a system message', system('go'), system([text('go')])],
    ['string, one text part of a tool message', tool('c', 'go'), tool('c', [text('go')])],
    ['string, one text part of an assistant turn', assistant({ content: 'go' }), assistant({ content: [text('go')] })],
    ['empty list, empty text', user([]), user('')],
    [
      'adjacent texts of an assistant turn',
      assistant({ content: [text('a'), text('b')] }),
      assistant({ content: 'ab' }),
    ],
    [
      'adjacent texts beside an image',
      assistant({ content: [text('a'), text(''), text('b'), image('u')] }),
      assistant({ content: [text('ab'), image('u')] }),
    ],
    [
      'empty texts beside an image',
      assistant({ content: [text(''), image('u'), text('')] }),
      assistant({ content: [image('u')] }),
    ],
    ['content null and "" without calls', assistant({ content: null }), assistant({ content: '' })],
    ['content [] and "" without calls', assistant({ content: [] }), assistant({ content: '' })],
    [
      'content null and [] beside calls',
      assistant({ toolCalls: [call('c', 'f', '{}')] }),
      assistant({ content: [], toolCalls: [call('c', 'f', '')] }),
    ],
    ['ids of items', assistant({ content: 'x', echoedIds: ['msg_1'] }), assistant({ content: 'x', echoedIds: [] })],
    ['bytes of the client', user('x', { verbatim: Buffer.from('{}') }), user('x')],
    ['empty name', user('x', { name: '' }), user('x')],
    ['reasoning of white space', assistant({ content: 'x', reasoning: ' \n\t' }), assistant({ content: 'x' })],
    ['empty refusal', assistant({ content: 'x', refusal: '' }), assistant({ content: 'x' })],
    [
      'arguments by value',
      assistant({ toolCalls: [call('c', 'f', args)] }),
      assistant({ toolCalls: [call('c', 'f', '{ "n": 1, "cmd": "\\u006cs" }')] }),
    ],
    ['detail auto', user([image('u', { detail: 'auto' })]), user([image('u')])],
    ['detail null', user([image('u', { detail: null })]), user([image('u')])],
    ['key order of a part', user([media({ image_url: { url: 'u' }, type: 'image_url' })]), user([image('u')])],
    ['spelling of a part', user([media('{"type":"image_url", "image_url":{"url":"\\u0075"}}')]), user([image('u')])],
    ['a part as text or bytes', user([media(Buffer.from('{"type":"x"}').toString())]), user([media({ type: 'x' })])],
    [
      'never-part members of a part',
      user([
        image(
          'u',
          {},
          {
            cache_control: { type: 'ephemeral' },
            id: 'p1',
            status: 'completed',
            index: 3,
            annotations: [],
            logprobs: null,
            encrypted_content: 'e',
          },
        ),
      ]),
      user([image('u')]),
    ],
  ];
  for (const [why, a, b] of equal) assert.equal(digest(a), digest(b), why);
});

test('every difference that counts gives another digest', () => {
  const turn = { content: 'x', reasoning: 'r', toolCalls: [call('c1', 'f', '{"a":1}'), call('c2', 'g', '{}')] };
  const all: [string, EngineMessage][] = [
    ['user', user('x')],
    ['system', system('x')],
    ['tool', tool('', 'x')],
    ['assistant', assistant({ content: 'x' })],
    ['trailing space', user('x ')],
    ['leading line break', user('\nx')],
    ['case', user('X')],
    ['empty', user('')],
    ['name', user('x', { name: 'bob' })],
    ['other name', user('x', { name: 'bo' })],
    ['name and text, moved', user('bx', { name: 'bo' })],
    ['two text parts', user([text('x'), text('x')])],
    ['their concatenation', user('xx')],
    ['parts split elsewhere', user([text('xx'), text('')])],
    ['text like a frame', user('t1:x')],
    ['text like a list', user('l2:t1:xt1:x')],
    ['lone surrogate', user('\ud800')],
    ['other lone surrogate', user('\udfff')],
    ['replacement character', user('\ufffd')],
    ['lone surrogate, spelled', user('\\ud800')],
    ['composed', user('\u00e9')],
    ['decomposed', user('e\u0301')],
    ['wide', user('\u2192')],
    ['wide as Latin-1', user('\x92!')],
    ['image', user([image('u')])],
    ['other image', user([image('v')])],
    ['image in detail', user([image('u', { detail: 'high' })])],
    ['image, text', user([image('u'), text('x')])],
    ['text, image', user([text('x'), image('u')])],
    ['file', user([media({ type: 'file', file: { file_id: 'u' } }, 'file')])],
    ['other file', user([media({ type: 'file', file: { file_id: 'v' } }, 'file')])],
    ['a part with a list that holds null', user([media({ type: 'x', list: [null] })])],
    ['a part with an empty list', user([media({ type: 'x', list: [] })])],
    ['tool message', tool('c', 'x')],
    ['tool message of another call', tool('d', 'x')],
    ['id and text, moved', tool('cx', '')],
    ['lone surrogate as call id', tool('\ud800', 'x')],
    ['other lone surrogate as call id', tool('\ud801', 'x')],
    ['replacement character as call id', tool('\ufffd', 'x')],
    ['lone surrogate as name', user('x', { name: '\ud800' })],
    ['replacement character as name', user('x', { name: '\ufffd' })],
    ['turn', assistant(turn)],
    ['other reasoning', assistant({ ...turn, reasoning: 'R' })],
    ['no reasoning', assistant({ ...turn, reasoning: null })],
    ['reasoning with a space', assistant({ ...turn, reasoning: 'r ' })],
    ['text as reasoning', assistant({ content: null, reasoning: 'x' })],
    ['refusal', assistant({ refusal: 'x' })],
    ['other call id', assistant({ ...turn, toolCalls: [call('c3', 'f', '{"a":1}'), call('c2', 'g', '{}')] })],
    ['other call name', assistant({ ...turn, toolCalls: [call('c1', 'h', '{"a":1}'), call('c2', 'g', '{}')] })],
    ['other argument', assistant({ ...turn, toolCalls: [call('c1', 'f', '{"a":2}'), call('c2', 'g', '{}')] })],
    ['argument as text', assistant({ ...turn, toolCalls: [call('c1', 'f', '{"a":"1"}'), call('c2', 'g', '{}')] })],
    ['one call less', assistant({ ...turn, toolCalls: [call('c1', 'f', '{"a":1}')] })],
    ['one call more', assistant({ ...turn, toolCalls: [...turn.toolCalls, call('c2', 'g', '{}')] })],
    ['other order', assistant({ ...turn, toolCalls: turn.toolCalls.toReversed() })],
    ['no text beside calls', assistant({ ...turn, content: null })],
    ['empty text beside calls', assistant({ ...turn, content: '' })],
    ['arguments that are no JSON', assistant({ toolCalls: [call('c1', 'f', '{bad')] })],
    ['other arguments that are no JSON', assistant({ toolCalls: [call('c1', 'f', '{bad ')] })],
    ['the same as a JSON string', assistant({ toolCalls: [call('c1', 'f', '"{bad"')] })],
    ['id and name, moved', assistant({ toolCalls: [call('c1f', '', '{bad')] })],
    ['assistant image', assistant({ content: [image('u')] })],
  ];
  const seen = new Map<string, string>();
  for (const [why, message] of all) {
    const found = digest(message);
    assert.match(found, /^[0-9a-f]{64}$/);
    assert.equal(seen.get(found), undefined, `${why} equals ${seen.get(found)}`);
    seen.set(found, why);
  }
});

test('an item has the role of its message', () => {
  const messages = [system('x'), user('x'), assistant({ content: 'x' }), tool('c', 'x')];
  assert.deepEqual(
    messages.map((message) => evidenceOf(message, 'required').role),
    ['system', 'user', 'assistant', 'tool'],
  );
});

test('the second digest is that of the turn with empty text', () => {
  const calls = [call('c', 'f', '{}')];
  const withNull = evidenceOf(assistant({ toolCalls: calls, reasoning: 'r' }), 'required');
  const withEmpty = evidenceOf(assistant({ toolCalls: calls, reasoning: 'r', content: '' }), 'required');
  assert.equal(withNull.emptyToolContentDigest, withEmpty.digest);
  assert.equal(withEmpty.emptyToolContentDigest, withEmpty.digest);
  assert.notEqual(withNull.digest, withEmpty.digest);
  const emptyPart = evidenceOf(assistant({ toolCalls: calls, reasoning: 'r', content: [text('')] }), 'required');
  assert.deepEqual(emptyPart, withEmpty);
  for (const message of [
    assistant({ toolCalls: calls, content: 'x' }),
    assistant({ toolCalls: calls, content: [image('u')] }),
    assistant({ content: '' }),
    assistant({ content: null }),
    user(''),
    tool('c', ''),
  ])
    assert.equal(evidenceOf(message, 'required').emptyToolContentDigest, null);
});

test('reasoning by policy', () => {
  const served = assistant({ content: 'x', reasoning: 'r', toolCalls: [] });
  const bare = assistant({ content: 'x' });
  const items = (policy: ReasoningPolicy): [EvidenceItem, EvidenceItem] => [
    evidenceOf(served, policy),
    evidenceOf(bare, policy),
  ];

  const [required, requiredBare] = items('required');
  assert.notEqual(required.digest, requiredBare.digest);
  assert.equal(required.reasoningDigest, null);

  const [optional, optionalBare] = items('optional');
  assert.equal(optional.digest, optionalBare.digest);
  assert.equal(optional.digest, requiredBare.digest);
  assert.equal(optionalBare.reasoningDigest, null);
  assert.match(optional.reasoningDigest ?? '', /^[0-9a-f]{64}$/);
  assert.notEqual(
    optional.reasoningDigest,
    evidenceOf(assistant({ content: 'x', reasoning: 'r ' }), 'optional').reasoningDigest,
  );
  assert.equal(
    evidenceOf(assistant({ content: 'y', reasoning: 'r' }), 'optional').reasoningDigest,
    optional.reasoningDigest,
  );
  assert.equal(evidenceOf(assistant({ reasoning: ' ' }), 'optional').reasoningDigest, null);

  assert.deepEqual(...items('hidden'));
});
