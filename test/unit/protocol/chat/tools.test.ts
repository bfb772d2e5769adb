import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fragmentText } from '../../../../src/protocol/json/fragment.ts';
import { convertChat, refuseChat } from '../../../support/chat-conversion.ts';

const MESSAGES = '"messages":[{"role":"user","content":"q"}]';
const F = '{"type":"function","function":{"name":"f","parameters":{"10":1.0,"2":1e3}}}';
const G = '{"type":"function","function":{"name":"g"}}';
const CUSTOM = '{"type":"custom","custom":{"name":"exec","description":"d"}}';
const CUSTOM_UP =
  '{"type":"function","function":{"name":"exec","description":"d","parameters":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}}}';

function fields(members: string): { tools: string | undefined; choice: string | undefined } {
  const request = convertChat(`{${MESSAGES},${members}}`);
  const text = (name: string) => {
    const fragment = request.fields.get(name);
    return fragment === undefined ? undefined : fragmentText(fragment);
  };
  return { tools: text('tools'), choice: text('tool_choice') };
}

const MAPPED: readonly (readonly [members: string, tools: string | undefined, choice: string | undefined])[] = [
  [`"tools":[ ${F} , ${G}]`, `[ ${F} , ${G}]`, undefined],
  ['"tools":[]', undefined, undefined],
  ['"tools":null,"tool_choice":null', undefined, undefined],
  ['"tools":[],"tool_choice":"auto"', undefined, undefined],
  ['"tool_choice":"none"', undefined, undefined],
  [`"tools":[${F}],"tool_choice":"auto"`, `[${F}]`, '"auto"'],
  [`"tools":[${F}],"tool_choice":"required"`, `[${F}]`, '"required"'],
  [
    `"tools":[${F}],"tool_choice":{"type":"function","function":{"name":"f"}}`,
    `[${F}]`,
    '{"type":"function","function":{"name":"f"}}',
  ],
  [
    `"tools":[${F}],"tool_choice":{"type":"function","name":"f"}`,
    `[${F}]`,
    '{"type":"function","function":{"name":"f"}}',
  ],
  [`"tools":[${F},${CUSTOM}]`, `[${F},${CUSTOM_UP}]`, undefined],
  [
    `"tools":[${CUSTOM}],"tool_choice":{"type":"custom","custom":{"name":"exec"}}`,
    `[${CUSTOM_UP}]`,
    '{"type":"function","function":{"name":"exec"}}',
  ],
  [
    `"tools":[${F},${G}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"g"}}]}}`,
    `[${G}]`,
    '"required"',
  ],
  [
    `"tools":[${F}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`,
    undefined,
    undefined,
  ],
  [`"tools":[{"cache_control":{},"type":"function","function":{"name":"g"}}]`, `[${G}]`, undefined],
  ['"tools":[{"function":{"name":"g"}}]', `[${G}]`, undefined],
  ['"tools":[{"type":null,"function":{"name":"g"}}]', `[${G}]`, undefined],
  [
    '"tools":[{"type":"function","name":"f","description":null,"parameters":{"2":1.0},"strict":false}]',
    '[{"type":"function","function":{"name":"f","parameters":{"2":1.0},"strict":false}}]',
    undefined,
  ],
];

for (const [members, tools, choice] of MAPPED)
  test(`goes up: ${members}`, () => {
    assert.deepEqual(fields(members), { tools, choice });
  });

const REFUSED: readonly (readonly [members: string, param: string])[] = [
  ['"tools":{}', 'tools'],
  ['"tools":["f"]', 'tools[0]'],
  [`"tools":[${F},{"type":"web_search"}]`, 'tools[1].type'],
  ['"tools":[{"type":"function"}]', 'tools[0].function'],
  ['"tools":[{"type":5,"function":{"name":"g"}}]', 'tools[0].type'],
  ['"tools":[{"type":"function","function":{}}]', 'tools[0].function.name'],
  ['"tools":[{"type":"function","function":{"name":""}}]', 'tools[0].function.name'],
  ['"tools":[{"type":"custom"}]', 'tools[0].custom.name'],
  [`"tools":[${F}],"tool_choice":"any"`, 'tool_choice'],
  [`"tools":[${F}],"tool_choice":5`, 'tool_choice'],
  [`"tools":[${F}],"tool_choice":{"type":"function"}`, 'tool_choice'],
  [`"tools":[${F}],"tool_choice":{"type":"function","function":{"name":"h"}}`, 'tool_choice'],
  ['"tool_choice":"required"', 'tool_choice'],
  ['"tool_choice":{"type":"function","function":{"name":"f"}}', 'tool_choice'],
  [`"tools":[${F}],"tool_choice":{"type":"allowed_tools"}`, 'tool_choice.allowed_tools.tools'],
  [
    `"tools":[${F}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[${G}]}}`,
    'tool_choice',
  ],
  [`"tools":[${F}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"tools":[${G}]}}`, 'tool_choice'],
  [`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[${G}]}}`, 'tool_choice'],
  [
    `"tools":[${F}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"some","tools":[${F}]}}`,
    'tool_choice.allowed_tools.mode',
  ],
];

for (const [members, param] of REFUSED)
  test(`refused by name: ${members}`, () => {
    const refusal = refuseChat(`{${MESSAGES},${members}}`);
    assert.equal(refusal.param, param);
    assert.ok(refusal.message.startsWith(`${param}: `));
  });

test('allowed tools of which none is declared are named', () => {
  const choice = `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[${G}]}}`;
  const refusal = refuseChat(`{${MESSAGES},"tools":[${F}],${choice}}`);
  assert.equal(refusal.message, 'tool_choice: names "g", which is not among the tools');
});

test('custom tools are remembered for the reply, functions are not', () => {
  const request = convertChat(`{${MESSAGES},"tools":[${F},${CUSTOM}]}`);
  assert.deepEqual(
    [...request.replyContext.clientTools],
    [['exec', { kind: 'custom', name: 'exec', namespace: null }]],
  );
});
