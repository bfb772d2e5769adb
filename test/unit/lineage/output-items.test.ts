import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assistantFingerprint } from '../../../src/lineage/fingerprints.ts';
import { outputItemFingerprint, recordOutput } from '../../../src/lineage/output-items.ts';
import { outputItemRow } from '../../../src/protocol/wire/ledger.ts';
import { json } from './support.ts';

const MESSAGE =
  '{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[],"logprobs":[]}]}';
const REASONING = '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"think"}]}';
const CALL =
  '{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\\"a\\": 1}","status":"completed"}';

test('one row per item: its own id, its fingerprint', () => {
  const items = [REASONING, MESSAGE, CALL, '{"role":"assistant","content":"hi"}'].map((text) => json(text));
  const { rows } = recordOutput(items);
  assert.deepEqual(
    rows?.map((row) => outputItemRow.parse(row).id),
    ['rs_1', 'msg_1', 'fc_1', null],
  );
  assert.equal(rows?.[0]?.fingerprint, '4b3255a4d475d16096c5077c1134075f45c53b6178fec7e4d1ff62f975f6b05a');
  assert.equal(rows?.[1]?.fingerprint, rows?.[3]?.fingerprint);
  assert.equal(rows?.[2]?.fingerprint, assistantFingerprint([items[2] as (typeof items)[number]]));
});

test('rows are null as a whole where one item has no fingerprint', () => {
  for (const odd of [
    '{"type":"web_search_call","id":"ws_1"}',
    '{"type":"message","role":"assistant","content":"\\ud800"}',
    '{"type":"reasoning","summary":[{"text":"\\ud800"}]}',
    '{"type":"custom_tool_call","call_id":"c","name":"n"}',
    '5',
  ])
    assert.equal(recordOutput([json(MESSAGE), json(odd)]).rows, null, odd);
});

test('reasoning: only top-level id and status, and nulls at every level, do not count', () => {
  const same = [
    '{"type":"reasoning","summary":[{"type":"summary_text","text":"think"}]}',
    '{"summary":[{"text":"think","x":null,"type":"summary_text"}],"content":null,"status":"completed","id":"other","type":"reasoning"}',
    '{"type":"reasoning","id":null,"encrypted_content":null,"summary":[{"type":"summary_text","text":"\\u0074hink"}]}',
  ];
  for (const text of same)
    assert.equal(outputItemFingerprint(json(text)), outputItemFingerprint(json(REASONING)), text);
  const others = [
    '{"type":"reasoning","summary":[{"type":"summary_text","text":"think","id":"x"}]}',
    '{"type":"reasoning","summary":[{"type":"summary_text","text":"think"}],"encrypted_content":"e"}',
    '{"type":"reasoning","summary":[{"type":"summary_text","text":"think"}],"content":[]}',
    '{"type":"reasoning","summary":[{"type":"summary_text","text":"think"},null]}',
  ];
  assert.equal(new Set([REASONING, ...others].map((text) => outputItemFingerprint(json(text)))).size, 5);
});

test('calls of other kinds count as the function calls that they were made from', () => {
  const made = (members: string) => assistantFingerprint([json(`{"type":"function_call","call_id":"c",${members}}`)]);
  const custom =
    '{"type":"custom_tool_call","id":"ctc_1","status":"completed","call_id":"c","name":"apply_patch","input":"*** Begin\\n\\u00e9"}';
  assert.equal(
    outputItemFingerprint(json(custom)),
    made('"name":"apply_patch","arguments":"{ \\"input\\": \\"*** Begin\\\\né\\" }"'),
  );
  const named = '{"type":"custom_tool_call","call_id":"c","namespace":"s","name":"n","input":""}';
  assert.equal(outputItemFingerprint(json(named)), made('"name":"s__n","arguments":"{\\"input\\":\\"\\"}"'));
  for (const args of ['{"query":"q"}', '"{\\"query\\": \\"q\\"}"'])
    assert.equal(
      outputItemFingerprint(json(`{"type":"tool_search_call","call_id":"c","execution":"client","arguments":${args}}`)),
      made('"name":"tool_search","arguments":"{\\"query\\":\\"q\\"}"'),
    );
});

test('the last item: text only, only the keys that it has', () => {
  const cases: [string[], unknown][] = [
    [[], null],
    [[REASONING, MESSAGE], { type: 'message', content: [{ text: 'hi' }] }],
    [[MESSAGE, REASONING], { type: 'reasoning', summary: [{ text: 'think' }] }],
    [[CALL], { type: 'function_call' }],
    [['{"role":"assistant","content":"hi"}'], { content: [{ text: 'hi' }] }],
    [
      [
        '{"type":"message","content":[{"type":"refusal","refusal":"no"},{"type":"output_text","text":"x","annotations":[]},"y",5]}',
      ],
      { type: 'message', content: [{}, { text: 'x' }, { text: 'y' }, {}] },
    ],
    [['{"type":"reasoning","content":null,"summary":[]}'], { type: 'reasoning', summary: [] }],
    [['{"type":"message","content":[]}'], { type: 'message', content: [] }],
  ];
  for (const [texts, last] of cases) assert.deepEqual(recordOutput(texts.map((text) => json(text))).last, last);
  assert.deepEqual(recordOutput([]).rows, []);
});
