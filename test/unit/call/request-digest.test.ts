import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBody, requestDigest } from '../../../src/call/parse-call.ts';
import type { Dialect } from '../../../src/protocol/conversation.ts';

function digest(text: string, dialect: Dialect = 'responses', evidence = 'e', namedParent?: string | null): string {
  const body = parseBody(Buffer.from(text), 64);
  if ('status' in body) throw new Error(body.message);
  return requestDigest(dialect, body, evidence, namedParent);
}

const CALL = '{"model":"m","input":[{"role":"user","content":"hi"}],"temperature":1}';

const SAME: readonly [what: string, text: string][] = [
  [
    'streamed',
    '{"model":"m","input":[{"role":"user","content":"hi"}],"temperature":1,"stream":true,"stream_options":{}}',
  ],
  ['its members in another order', '{"temperature":1,"input":[{"role":"user","content":"hi"}],"model":"m"}'],
  [
    'with something about the client',
    '{"model":"m","client_metadata":{"try":"2"},"input":[{"role":"user","content":"hi"}],"temperature":1,"metadata":{"a":"b"}}',
  ],
];
for (const [what, text] of SAME) {
  test(`the same call ${what} has the same digest`, () => assert.equal(digest(text), digest(CALL)));
}

const OTHER: readonly [what: string, text: string][] = [
  ['one character of a text', CALL.replace('hi', 'ho')],
  ['a setting', CALL.replace(':1}', ':0}')],
  ['the spelling of a number', CALL.replace(':1}', ':1.0}')],
  ['one member more', CALL.replace(':1}', ':1,"top_p":1}')],
];
for (const [what, text] of OTHER) {
  test(`${what} makes another call`, () => assert.notEqual(digest(text), digest(CALL)));
}

test('another named parent makes another call, and so does none', () => {
  const digests = [undefined, null, 'null', 'a', 'b'].map((parent) => digest(CALL, 'responses', 'e', parent));
  assert.equal(new Set(digests).size, 5);
});

test('another dialect makes another call', () => assert.notEqual(digest(CALL, 'chat'), digest(CALL)));

test('other evidence makes another call', () => {
  assert.notEqual(digest(CALL, 'responses', 'other'), digest(CALL));
});

test('one byte of a long member that is no evidence makes another call', () => {
  const long = CALL.replace('"hi"', `"${'x'.repeat(5000)}","id":"a"`);
  assert.equal(digest(long), digest(long));
  assert.notEqual(digest(long.replace('"id":"a"', '"id":"b"')), digest(long));
});

test('the elements of a long list count in their order, and each where it ends', () => {
  const listed = (...values: string[]) => digest(CALL.replace('1}', `[${values.join(' , ')}]}`));
  const long = Array.from({ length: 400 }, () => '1000');
  assert.equal(listed(...long, '1', '23'), listed(...long, '1', '23'));
  const others = [['23', '1'], ['12', '3'], ['123'], ['1', '2', '3'], ['1', '24']];
  const digests = [['1', '23'], ...others].map((values) => listed(...long, ...values));
  assert.equal(new Set(digests).size, digests.length);
});
