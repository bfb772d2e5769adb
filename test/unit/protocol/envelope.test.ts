import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestEnvelope } from '../../../src/protocol/envelope.ts';
import { json } from '../../support/chat-conversion.ts';

const ROWS: readonly (readonly [instructions: string | null, tools: string | null, envelope: string | null])[] = [
  [null, null, null],
  ['null', '[]', null],
  ['""', 'null', null],
  ['"é"', '[]', '{"instructions": "\\u00e9", "tools": []}'],
  ['"be"', null, '{"instructions": "be", "tools": null}'],
  [
    null,
    '[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"b":{},"a":{"minimum":1.0,"multipleOf":1e-7,"maximum":9223372036854775807}}}}}]',
    '{"instructions": null, "tools": [{"function": {"name": "f", "parameters": {"properties": {"a": {"maximum": 9223372036854775807, "minimum": 1.0, "multipleOf": 1e-07}, "b": {}}, "type": "object"}}, "type": "function"}]}',
  ],
  [
    '"a\\u2028😀\\u007f\\n\\"\\ud83d"',
    null,
    '{"instructions": "a\\u2028\\ud83d\\ude00\\u007f\\n\\"\\ud83d", "tools": null}',
  ],
  [
    null,
    '[-0, -0.0, 1E2, 1e16, 1e400, true, null]',
    '{"instructions": null, "tools": [0, -0.0, 100.0, 1e+16, Infinity, true, null]}',
  ],
  [
    null,
    '[{"\\ue000":1,"😀":2,"a":3,"a":4}]',
    '{"instructions": null, "tools": [{"a": 4, "\\ue000": 1, "\\ud83d\\ude00": 2}]}',
  ],
];

for (const [instructions, tools, envelope] of ROWS)
  test(`envelope of instructions ${instructions} and tools ${tools?.slice(0, 40)}`, () => {
    const node = (text: string | null) => (text === null ? undefined : json(text));
    assert.equal(requestEnvelope(node(instructions), node(tools)), envelope);
  });
