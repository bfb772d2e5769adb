import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conversationDigest } from '../../../src/lineage/fingerprints.ts';
import { digestOfFields, type Field, items } from './support.ts';

const contextDigest = (fields: readonly Field[]) => digestOfFields('nemo-gym-lineage-context', fields);

test('a conversation, field by field', () => {
  const cases: [string, string[], Field[]][] = [
    ['no items', [], []],
    [
      'role, else type',
      ['{"role":"user"}', '{"type":"reasoning","summary":[]}', '{"role":"","type":"x"}', '{}', '{"role":5}'],
      [
        [0, 'user'],
        [0, 'reasoning'],
        [0, 'x'],
        [0, ''],
        [0, '5'],
      ],
    ],
    [
      'calls of any role',
      ['{"role":"user","content":"x","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}'],
      [
        [0, 'user'],
        [1, 'text'],
        [2, 'x'],
        [3, 'c'],
        [4, 'f'],
        [5, '{}'],
      ],
    ],
    [
      'output as a string',
      ['{"type":"function_call_output","call_id":"c","output":"  x\\n"}'],
      [
        [0, 'function_call_output'],
        [6, 'c'],
        [7, '  x\n'],
      ],
    ],
    [
      'output of another kind',
      ['{"type":"function_call_output","id":"i","output":{"b":[1.0],"a":null}}', '{"type":"function_call_output"}'],
      [
        [0, 'function_call_output'],
        [6, 'i'],
        [7, '{"a":null,"b":[1.0]}'],
        [0, 'function_call_output'],
        [6, ''],
        [7, 'null'],
      ],
    ],
    [
      'Chat tool message',
      [
        '{"role":"tool","tool_call_id":"t","content":[{"type":"text","text":"ok"}]}',
        '{"role":"tool","call_id":"t","content":null}',
      ],
      [
        [0, 'tool'],
        [1, 'text'],
        [2, 'ok'],
        [6, 't'],
        [7, '[{"text":"ok","type":"text"}]'],
        [0, 'tool'],
        [6, ''],
        [7, 'null'],
      ],
    ],
    [
      'tool_result blocks',
      [
        '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"text","text":"y"},{"type":"tool_result","id":"b","content":[]}]}',
      ],
      [
        [0, 'user'],
        [1, 'text'],
        [2, 'y'],
        [6, 'a'],
        [7, 'ok'],
        [6, 'b'],
        [7, '[]'],
      ],
    ],
    [
      'an output item that is a tool message, too',
      ['{"type":"function_call_output","role":"tool","call_id":"c","tool_call_id":"t","content":"x","output":"y"}'],
      [
        [0, 'tool'],
        [1, 'text'],
        [2, 'x'],
        [6, 'c'],
        [7, 'y'],
      ],
    ],
    [
      'custom calls are bare',
      [
        '{"type":"custom_tool_call","call_id":"c","name":"n","input":"x"}',
        '{"type":"custom_tool_call_output","call_id":"c","output":"x"}',
      ],
      [
        [0, 'custom_tool_call'],
        [0, 'custom_tool_call_output'],
      ],
    ],
  ];
  for (const [why, texts, fields] of cases)
    for (const version of [2, 3] as const)
      assert.equal(conversationDigest(items(...texts), version), contextDigest(fields), `${why} v${version}`);
});

test('version 3 leaves the content of system and developer items out', () => {
  const history = items(
    '{"role":"system","content":"s"}',
    '{"role":"developer","content":["d"]}',
    '{"role":"user","content":"u"}',
  );
  const rest: Field[] = [
    [0, 'user'],
    [1, 'text'],
    [2, 'u'],
  ];
  assert.equal(
    conversationDigest(history, 2),
    contextDigest([[0, 'system'], [1, 'text'], [2, 's'], [0, 'developer'], [1, 'text'], [2, 'd'], ...rest]),
  );
  assert.equal(conversationDigest(history, 3), contextDigest([[0, 'system'], [0, 'developer'], ...rest]));
});
