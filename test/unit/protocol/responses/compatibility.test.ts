import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RESPONSES_FIELDS } from '../../../../src/protocol/responses/compatibility.ts';
import { REPEATED } from '../../../../src/protocol/responses/echo.ts';
import { publishedTypes } from '../../../support/published-types.ts';
import { convert, refuse, UNCAPTURED, upstream } from '../../../support/responses-dialect.ts';

const ROOT = 'ResponseCreateParamsBase';
const types = publishedTypes('openai/resources/responses/responses.d.ts', ROOT);
const { request, nested } = RESPONSES_FIELDS;

test('every published field of a Responses request has a fate', () => {
  const fields = types.get(ROOT) ?? [];
  assert.ok(fields.length > 30);
  assert.deepEqual(
    fields.filter((field) => !Object.hasOwn(request, field)),
    [],
  );
});

test('so has every field of every nested type', () => {
  const open: string[] = [];
  for (const [name, fields] of types) {
    if (name === ROOT) continue;
    const table = nested[name];
    if (table === undefined) open.push(name);
    else open.push(...fields.filter((field) => !Object.hasOwn(table, field)).map((field) => `${name}.${field}`));
  }
  assert.deepEqual(open, []);
});

test('no table speaks of a type that does not exist', () => {
  assert.deepEqual(
    Object.keys(nested).filter((name) => !types.has(name)),
    [],
  );
});

/** A value that is a use of each refused field. */
const USES: Readonly<Record<string, unknown>> = {
  n: 2,
  logprobs: true,
  top_logprobs: 1,
  prompt: { id: 'p' },
  moderation: { model: 'm' },
  truncate_prompt_tokens: 1,
  continue_final_message: true,
  add_generation_prompt: false,
  chat_template: 'x',
  echo: true,
  best_of: 2,
  logits_processors: ['x'],
  previous_response_id: 'r',
  conversation: 'c',
  background: true,
  truncation: 'auto',
};

for (const [field, fate] of Object.entries(request)) {
  if (fate.kind === 'refused' && field !== 'messages')
    test(`${field} is refused by name`, () => {
      assert.ok(Object.hasOwn(USES, field), 'no use of it is known here');
      assert.equal(refuse({ model: 'm', input: 'q', [field]: USES[field] }).param, field);
    });
  if (fate.kind === 'ignored')
    test(`${field} is ignored`, () => {
      const plain = convert({ model: 'm', input: 'q' });
      const with_ = convert({ model: 'm', input: 'q', [field]: { any: 'value' } });
      assert.deepEqual([...with_.fields.keys()], [...plain.fields.keys()]);
      assert.deepEqual(upstream(with_.messages), upstream(plain.messages));
      assert.deepEqual(with_.ignored, []);
      assert.equal(/the reply repeats it/.test(fate.note), REPEATED.has(field));
    });
}

test('messages without input are refused by the name of what is missing', () => {
  const refusal = refuse({ model: 'm', messages: [{ role: 'user', content: 'q' }] }, UNCAPTURED);
  assert.equal(refusal.param, 'input');
  assert.match(refusal.message, /messages/);
});
