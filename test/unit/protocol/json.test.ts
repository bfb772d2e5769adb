import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fragmentText, joinFragments, jsonString, memberFragments } from '../../../src/protocol/json/fragment.ts';
import { JsonNode } from '../../../src/protocol/json/json-node.ts';
import {
  isJsonProblem,
  type JsonProblem,
  type ParseJsonOptions,
  parseJson,
  parseJsonText,
} from '../../../src/protocol/json/parse-json.ts';
import { plainText } from '../../../src/protocol/json/plain-text.ts';

function parsed(text: string, options?: ParseJsonOptions): JsonNode {
  const node = parseJsonText(text, options);
  if (isJsonProblem(node)) throw new Error(`${node.problem}: ${text}`);
  return node;
}

function problem(bytes: string | Buffer, options?: ParseJsonOptions): JsonProblem {
  const found = typeof bytes === 'string' ? parseJsonText(bytes, options) : parseJson(bytes, options);
  assert.ok(isJsonProblem(found), `accepted: ${bytes.toString()}`);
  return found;
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

test('the tree keeps what the text says: order, duplicates, spellings, bytes', () => {
  const text = ' {"b" : 1.50e+2 ,"10":[ -0, 12345678901234567890 ],"a":"\\u00e9\\/", "b":null, "é":{"":true} }\n';
  const node = parsed(text);
  assert.deepEqual(node.keys, ['b', '10', 'a', 'b', 'é']);
  assert.equal(node.rawText(), text.trim());
  assert.deepEqual(
    node.children.map((child) => [child.kind, child.rawText()]),
    [
      ['number', '1.50e+2'],
      ['array', '[ -0, 12345678901234567890 ]'],
      ['string', '"\\u00e9\\/"'],
      ['null', 'null'],
      ['object', '{"":true}'],
    ],
  );
  assert.equal(node.raw().buffer, node.bytes.buffer);
  assert.equal(node.get('10')?.elements()[1]?.rawText(), '12345678901234567890');
  assert.equal(node.get('a')?.string(), 'é/');
});

test('reads follow the ecosystem: the last duplicate wins, null can count as absent', () => {
  const node = parsed('{"a":1,"b":null,"a":2,"a":null,"c":false}');
  assert.equal(node.get('a')?.kind, 'null');
  assert.equal(node.present('a'), undefined);
  assert.equal(node.present('b'), undefined);
  assert.equal(node.present('c')?.boolean(), false);
  assert.equal(node.get('d'), undefined);
  assert.deepEqual(
    [...node.members()].map(([key, value]) => [key, value.rawText()]),
    [
      ['a', 'null'],
      ['b', 'null'],
      ['c', 'false'],
    ],
  );
  assert.deepEqual(parsed('[1,2]').get('0'), undefined);
  assert.deepEqual(node.elements(), []);
});

test('typed reads give nothing for another kind', () => {
  const [text, number, yes, no, nothing, list, object] = parsed(
    '["x",-1.5,true,false,null,[],{}]',
  ).elements() as JsonNode[];
  assert.deepEqual(
    [text, number, yes, no, nothing, list, object].map((node) => [node?.string(), node?.number(), node?.boolean()]),
    [
      ['x', undefined, undefined],
      [undefined, -1.5, undefined],
      [undefined, undefined, true],
      [undefined, undefined, false],
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
    ],
  );
  assert.deepEqual(
    [list?.isArray(), list?.isObject(), object?.isObject(), object?.isArray()],
    [true, false, true, false],
  );
  assert.deepEqual([text?.isString(), nothing?.isNull(), nothing?.isString()], [true, true, false]);
  assert.equal(parsed('1e400').number(), Number.POSITIVE_INFINITY);
  assert.deepEqual(parsed('{"a":[1,{"b":"\\n"}]}').value(), { a: [1, { b: '\n' }] });
});

test('escapes: all of them, in values and names; lone surrogates are kept', () => {
  const node = parsed('{"\\u0061\\n":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u00E9\\ud83d\\ude00\\ud800"}');
  assert.deepEqual(node.keys, ['a\n']);
  assert.equal(node.get('a\n')?.string(), '"\\/\b\f\n\r\t\0é😀\ud800');
  assert.equal(node.get('a\n')?.escaped, true);
  assert.equal(parsed('"é😀"').escaped, false);
});

test('refused texts say why and where', () => {
  const cases: [string, number, RegExp][] = [
    ['', 0, /ends where a value is expected/],
    ['  ', 2, /ends where a value is expected/],
    ['{"a":1}x', 7, /after the end/],
    ['{"a":1,}', 7, /member name/],
    ['{a:1}', 1, /member name/],
    ['{"a" 1}', 5, /":"/],
    ['{"a":1 "b":2}', 7, /"," or "}"/],
    ['[1,]', 3, /value is expected/],
    ['[1 2]', 3, /"," or "\]"/],
    ['[1', 2, /"," or "\]"/],
    ['"a', 2, /not closed/],
    ['"a\\', 2, /unknown escape/],
    ['"\\x"', 1, /unknown escape/],
    ['"\\u00g0"', 1, /four hex digits/],
    ['"a\tb"', 2, /control character/],
    ['01', 1, /after the end/],
    ['-', 0, /value is expected/],
    ['1.', 2, /digit/],
    ['.5', 0, /value is expected/],
    ['1e+', 3, /exponent/],
    ['+1', 0, /value is expected/],
    ['tru', 0, /value is expected/],
    ['NaN', 0, /value is expected/],
    ['[-Infinity]', 1, /value is expected/],
    ['\ufeff{}', 0, /value is expected/],
    ['"\ud800"', 0, /lone surrogate/],
  ];
  for (const [text, offset, message] of cases) {
    const found = problem(text);
    assert.match(found.problem, message, text);
    assert.equal(found.offset, offset, text);
    assert.equal(found.tooDeep, false);
  }
  assert.match(problem(Buffer.from([0x22, 0xc3, 0x28, 0x22])).problem, /UTF-8/);
  assert.match(problem(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])).problem, /UTF-8/);
});

test('nesting is bounded; skipped values are not built, so theirs is not', () => {
  const nested = (levels: number, inner = '') => '['.repeat(levels) + inner + ']'.repeat(levels);
  assert.equal(parsed(nested(512)).kind, 'array');
  assert.deepEqual(problem(nested(513)), {
    problem: 'the text is nested deeper than 512 levels',
    offset: 512,
    tooDeep: true,
  });
  assert.equal(problem('{"a":'.repeat(100_000)).tooDeep, true);
  assert.equal(parsed('{"a":[{"b":{}}]}', { maxDepth: 4 }).kind, 'object');
  assert.equal(problem('{"a":[{"b":{}}]}', { maxDepth: 3 }).tooDeep, true);
  assert.equal(parsed(nested(3), { maxDepth: 3 }).kind, 'array');
  assert.equal(problem(nested(4), { maxDepth: 3 }).tooDeep, true);
  const skip = new Set(['s']);
  assert.equal(parsed(`{"s":${nested(2)}}`, { maxDepth: 3, skip }).get('s')?.kind, 'skipped');
  assert.equal(parsed(`{"s":${nested(100_000)}}`, { maxDepth: 3, skip }).get('s')?.kind, 'skipped');
});

test('skipped members are stepped over by strings and brackets', () => {
  const skip = new Set(['s']);
  const node = parsed('{"s":{"a":[1,"]\\"",{}],"b":{}} ,"t":{"s":null,"u":1},"s":-1.5e3}', { skip });
  assert.deepEqual(
    node.children.map((child) => [child.kind, child.rawText()]),
    [
      ['skipped', '{"a":[1,"]\\"",{}],"b":{}}'],
      ['object', '{"s":null,"u":1}'],
      ['skipped', '-1.5e3'],
    ],
  );
  assert.equal(node.get('t')?.get('s')?.kind, 'skipped');
  assert.equal(node.get('s')?.value(), undefined);
  for (const bad of ['x', '"\\x"', '["\\x"]', '[1', '{"a":[1}', '{"a":"}', 'tru', '01'])
    assert.equal(problem(`{"s":${bad}}`, { skip }).tooDeep, false, bad);
});

test('the words of Python for numbers that JSON does not have, where they are allowed', () => {
  const allow = { allowNonFinite: true };
  const node = parsed('[NaN,Infinity,-Infinity,{"a":NaN},-1]', allow);
  assert.deepEqual(
    node.elements().map((element) => element.number()),
    [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined, -1],
  );
  assert.equal(node.elements()[2]?.rawText(), '-Infinity');
  for (const bad of ['-NaN', 'nan', 'Nan', 'Inf', 'Infinit', '-Inf', '+Infinity', 'NaNN', 'Infinity1', '--Infinity'])
    assert.equal(problem(bad, allow).tooDeep, false, bad);
});

test('plain words are found again, whatever shares their slot', () => {
  const words = ['__proto__', 'constructor', 'hasOwnProperty', '0', '-1', '4294967295', 'length'];
  for (let n = 0; n < 5000; n++) words.push(`${(n * 7919).toString(36)}é${n % 3}`);
  for (let round = 0; round < 2; round++)
    for (const word of ['', 'x'.repeat(40), 'x'.repeat(41), ...words]) {
      const bytes = Buffer.from(`"${word}"`);
      assert.equal(plainText(bytes, 1, bytes.length - 1), word);
    }
});

test('fragments', () => {
  const node = parsed('{"a":"x","b":[1, 2],"a":{"é":1},"c":3}');
  const members = memberFragments(node, (key) => key !== 'c');
  assert.equal(joinFragments(['{', ...members, '}']).toString(), '{"a":{"é":1},"b":[1, 2]}');
  assert.equal(joinFragments([]).length, 0);
  const raw = node.raw();
  assert.equal(joinFragments([raw]), raw);
  assert.equal(joinFragments(['é', new Uint8Array([0x31]), '', '😀']).toString(), 'é1😀');
  assert.equal(fragmentText('é'), 'é');
  assert.equal(fragmentText(new Uint8Array(Buffer.from('é'))), 'é');
  assert.equal(jsonString('a"\ud800é'), '"a\\"\\ud800é"');
});

test('property: every JSON text reads as JSON.parse reads it', () => {
  const spaces = fc.constantFrom('', ' ', '\n\t', '\r');
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), spaces, (text, space) => {
      if (!text.isWellFormed()) return;
      const node = parsed(space + text + space);
      assert.deepEqual(node.value(), JSON.parse(text));
      assert.equal(node.rawText(), text);
    }),
  );
});

test('property: a text with one character changed is accepted exactly if JSON.parse accepts it', () => {
  const characters = fc.constantFrom(...'{}[]:,"\\/ueE+-.0123456789tfn \n\t\0xé'.split(''));
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.nat(2), characters, (text, place, cut, character) => {
      const at = place % (text.length + 1);
      const changed = text.slice(0, at) + character + text.slice(at + cut);
      if (!changed.isWellFormed()) return;
      assert.equal(parseJsonText(changed) instanceof JsonNode, isJson(changed), changed);
      const inSkipped = parseJsonText(`{"s":${changed}}`, { skip: new Set(['s']) });
      if (isJson(`{"s":${changed}}`)) assert.equal(inSkipped instanceof JsonNode, true, changed);
    }),
    { numRuns: 3000 },
  );
});
