import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assistantFingerprint, conversationDigest, fingerprintAssistant } from '../../../src/lineage/fingerprints.ts';
import { digestOfFields, type Field, items } from './support.ts';

const assistantDigest = (fields: readonly Field[]) => digestOfFields('nemo-gym-lineage', fields);

test('what an assistant authored, field by field', () => {
  const cases: [string, string[], Field[]][] = [
    ['nothing in it', ['{"role":"assistant"}'], []],
    [
      'content null, empty, []',
      ['{"role":"assistant","content":null}', '{"role":"assistant","content":""}', '{"role":"assistant","content":[]}'],
      [],
    ],
    [
      'others are skipped',
      ['{"role":"user","content":"q"}', '{"role":"assistant","content":"a"}', '{"role":"tool","content":"r"}'],
      [
        [0, 'text'],
        [1, 'a'],
      ],
    ],
    [
      'escapes',
      ['{"role":"assistant","content":"\\u00e9\\ud83d\\ude00\\n\\/\\\\\\"\\u0000"}'],
      [
        [0, 'text'],
        [1, 'é😀\n/\\"\0'],
      ],
    ],
    [
      'strings in a list',
      ['{"role":"assistant","content":["a","","b"]}'],
      [
        [0, 'text'],
        [1, 'a'],
        [0, 'text'],
        [1, 'b'],
      ],
    ],
    [
      'blocks of text',
      [
        '{"role":"assistant","content":[{"text":"a"},{"type":null,"text":"b"},{"type":"input_text","text":"c"},{"type":"output_text","text":""}]}',
      ],
      [
        [0, 'text'],
        [1, 'a'],
        [0, 'text'],
        [1, 'b'],
        [0, 'text'],
        [1, 'c'],
      ],
    ],
    [
      'a block by value',
      ['{"role":"assistant","content":[{"type":"refusal","refusal":"n\\u00f6","n":1.0,"a":null}]}'],
      [
        [0, 'refusal'],
        [1, '{"a":null,"n":1.0,"refusal":"nö","type":"refusal"}'],
      ],
    ],
    [
      'reasoning parts are blocks',
      ['{"role":"assistant","content":[{"type":"reasoning_text","text":"r"}]}'],
      [
        [0, 'reasoning_text'],
        [1, '{"text":"r","type":"reasoning_text"}'],
      ],
    ],
    [
      'a type that is no string',
      ['{"role":"assistant","content":[{"type":5,"text":"a"},{"type":true}]}'],
      [
        [0, '5'],
        [1, '{"text":"a","type":5}'],
        [0, 'True'],
        [1, '{"type":true}'],
      ],
    ],
    [
      'call, namespace',
      ['{"type":"function_call","call_id":"c","name":"n","namespace":"s","arguments":"{\\"b\\":1,\\"a\\":2}"}'],
      [
        [2, 'c'],
        [3, 's__n'],
        [4, '{"a":2,"b":1}'],
      ],
    ],
    [
      'call without anything',
      ['{"type":"function_call"}'],
      [
        [2, ''],
        [3, ''],
        [4, ''],
      ],
    ],
    [
      'ids: call_id, else id',
      [
        '{"type":"function_call","call_id":"","id":"i","name":"n"}',
        '{"type":"function_call","call_id":7,"id":"i","name":null}',
      ],
      [
        [2, 'i'],
        [3, 'n'],
        [4, ''],
        [2, '7'],
        [3, 'None'],
        [4, ''],
      ],
    ],
    [
      'a chat call takes id alone',
      [
        '{"role":"assistant","tool_calls":[{"call_id":"c","id":null,"namespace":"s","function":{"name":"n","arguments":"x "}}]}',
      ],
      [
        [2, ''],
        [3, 'n'],
        [4, 'x'],
      ],
    ],
    [
      'a chat call without a function',
      ['{"role":"assistant","tool_calls":[{"id":"c","function":null},{"id":"d"}]}'],
      [
        [2, 'c'],
        [3, ''],
        [4, ''],
        [2, 'd'],
        [3, ''],
        [4, ''],
      ],
    ],
    [
      'falsy lists of calls',
      [
        '{"role":"assistant","tool_calls":null}',
        '{"role":"assistant","tool_calls":""}',
        '{"role":"assistant","tool_calls":{}}',
        '{"role":"assistant","tool_calls":0}',
      ],
      [],
    ],
    [
      'parts, then the item’s own call, tool_use, tool_calls',
      [
        '{"role":"assistant","type":"function_call","call_id":"c1","name":"a","content":[{"type":"tool_use","id":"c2","name":"b","input":{"x":1.50}},{"type":"text","text":"t"}],"tool_calls":[{"id":"c3","function":{"name":"d"}}]}',
      ],
      [
        [0, 'text'],
        [1, 't'],
        [2, 'c1'],
        [3, 'a'],
        [4, ''],
        [2, 'c2'],
        [3, 'b'],
        [4, '{"x":1.5}'],
        [2, 'c3'],
        [3, 'd'],
        [4, ''],
      ],
    ],
    [
      'function_call of old Chat is not looked at',
      ['{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}'],
      [],
    ],
  ];
  for (const [why, texts, fields] of cases)
    assert.equal(assistantFingerprint(items(...texts)), assistantDigest(fields), why);
});

test('escapes of every length of UTF-8', () => {
  for (const code of [0, 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x1f9ff, 0x10ffff]) {
    const text = String.fromCodePoint(code);
    const escapes = text.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const lower = items(`{"role":"assistant","content":"${escapes.join('')}"}`);
    const upper = items(`{"role":"assistant","content":"${escapes.join('').toUpperCase().replaceAll('\\U', '\\u')}"}`);
    const expected = assistantDigest([
      [0, 'text'],
      [1, text],
    ]);
    assert.equal(assistantFingerprint(lower), expected);
    assert.equal(assistantFingerprint(upper), expected);
  }
});

test('items that come again, short and long ones, say the same again beside new ones', () => {
  const texts = ['é', 'ü'.repeat(2000), 'x'.repeat(100_000)];
  const history = items(...texts.map((text) => JSON.stringify({ role: 'assistant', content: text })));
  const grown = [...history, ...items('{"role":"user","content":"q"}', '{"role":"assistant","content":"new"}')];
  const fieldsOf = (said: readonly string[]) =>
    said.flatMap((text): Field[] => [
      [0, 'text'],
      [1, text],
    ]);
  for (let time = 0; time < 2; time++) {
    assert.equal(assistantFingerprint(history), assistantDigest(fieldsOf(texts)));
    assert.equal(assistantFingerprint(grown), assistantDigest(fieldsOf([...texts, 'new'])));
    history.forEach((item, at) => {
      assert.equal(assistantFingerprint([item]), assistantDigest(fieldsOf([texts[at] as string])));
    });
  }
});

test('arguments', () => {
  const cases: [string, string][] = [
    ['null', ''],
    ['"  {\\"x\\":[1, 2]} "', '{"x":[1,2]}'],
    ['" not json\\u001c\\u0085"', 'not json'],
    ['"\\ufeff{}"', '\ufeff{}'],
    ['"\\u00a0{ }"', '{ }'],
    ['"-Infinity"', 'null'],
    ['"[NaN,1e400,-0,-0.0]"', '[null,null,0,-0.0]'],
    ['"-NaN"', '-NaN'],
    ['"\\"a\\tb\\""', '"a\tb"'],
    ['5', '5'],
    ['true', 'true'],
    ['1.0', '1.0'],
    ['{"b":1,"a":[1e-7]}', '{"a":[1e-7],"b":1}'],
    ['[]', '[]'],
  ];
  for (const [given, hashed] of cases)
    assert.equal(
      assistantFingerprint(items(`{"type":"function_call","call_id":"c","name":"n","arguments":${given}}`)),
      assistantDigest([
        [2, 'c'],
        [3, 'n'],
        [4, hashed],
      ]),
      given,
    );
});

test('odd values where text is expected print as Python prints them', () => {
  const cases: [string, string][] = [
    ['true', 'True'],
    ['false', 'False'],
    ['-0', '0'],
    ['1e16', '1e+16'],
    ['NaN', 'nan'],
    ['["\\udb40\\udc01"]', "['\\U000e0001']"],
    ['[1,"x",null,{"k":-0.0}]', "[1, 'x', None, {'k': -0.0}]"],
    ['{"a":"it\'s","b":"\\"\'","a":2}', `{'a': 2, 'b': '"\\''}`],
    [
      '["it\'s","\\\\ \\n\\r\\t\\u0001\\u007f\\u00a0\\u00ad\\u2028\\ud83d\\ude00\\u00e9"]',
      `["it's", '\\\\ \\n\\r\\t\\x01\\x7f\\xa0\\xad\\u2028😀é']`,
    ],
  ];
  for (const [name, printed] of cases)
    assert.equal(
      assistantFingerprint(items(`{"type":"function_call","name":${name}}`)),
      assistantDigest([
        [2, ''],
        [3, printed],
        [4, ''],
      ]),
      name,
    );
});

test('what has no fingerprint', () => {
  const refused = [
    '5',
    '"text"',
    '{"role":"assistant","content":5}',
    '{"role":"assistant","content":false}',
    '{"role":"assistant","content":{"type":"text","text":"x"}}',
    '{"role":"assistant","content":[5]}',
    '{"role":"assistant","content":[["x"]]}',
    '{"role":"assistant","content":[{"type":"","x":1}]}',
    '{"role":"assistant","content":"\\ud800"}',
    '{"role":"assistant","content":"\\udc00\\ud800"}',
    '{"role":"assistant","content":[{"type":"x","n":18446744073709551616}]}',
    '{"role":"assistant","tool_calls":"x"}',
    '{"role":"assistant","tool_calls":true}',
    '{"role":"assistant","tool_calls":[5]}',
    '{"role":"assistant","tool_calls":[{"function":"x"}]}',
    '{"type":"function_call","name":"\\ud800"}',
    '{"type":"function_call","arguments":"\\ud800"}',
    '{"type":"function_call","arguments":"\\"\\\\ud800\\""}',
    `{"type":"function_call","arguments":"${'['.repeat(255)}${']'.repeat(255)}"}`,
    `{"type":"function_call","arguments":"${'['.repeat(900)}${']'.repeat(900)}"}`,
  ];
  for (const text of refused) {
    assert.deepEqual(
      fingerprintAssistant(items('{"role":"assistant","content":"fine"}', text)),
      { kind: 'unfingerprintable' },
      text,
    );
    assert.equal(assistantFingerprint(items(text)), null);
    assert.equal(conversationDigest(items(text), 2), null, text);
  }
  // An item that nobody authored is not looked into.
  assert.deepEqual(fingerprintAssistant(items('{"role":"user","content":5}')), { kind: 'empty' });
  assert.equal(conversationDigest(items('{"role":"user","content":5}'), 2), null);
});

test('a refused item leaves nothing behind in the next fingerprint', () => {
  const fine = items('{"role":"assistant","content":"a"}');
  const before = assistantFingerprint(fine);
  assert.equal(assistantFingerprint(items('{"role":"assistant","content":["lost",5]}')), null);
  assert.equal(assistantFingerprint(fine), before);
});

test('texts larger than the buffer', () => {
  const long = 'é\n'.repeat(200_000);
  assert.equal(
    assistantFingerprint(
      items(JSON.stringify({ role: 'assistant', content: [long, long] }), '{"role":"assistant","content":"x"}'),
    ),
    assistantDigest([
      [0, 'text'],
      [1, long],
      [0, 'text'],
      [1, long],
      [0, 'text'],
      [1, 'x'],
    ]),
  );
});
