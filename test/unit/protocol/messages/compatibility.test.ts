import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldTable } from '../../../../src/protocol/field-table.ts';
import { MESSAGES_FIELDS } from '../../../../src/protocol/messages/compatibility.ts';
import { convert, refuse, upstreamText } from '../../../support/messages-dialect.ts';
import { publishedTypes } from '../../../support/published-types.ts';

const BETA = '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts';
const STABLE = '@anthropic-ai/sdk/resources/messages/messages.d.ts';

const ROOTS: readonly (readonly [file: string, type: string])[] = [
  [STABLE, 'MessageCreateParamsBase'],
  [STABLE, 'MessageCountTokensParams'],
  [BETA, 'MessageCreateParamsBase'],
  [BETA, 'MessageCountTokensParams'],
];

/** The two generations of the published types name one block differently. */
const RENAMED: Readonly<Record<string, string>> = { DocumentBlockParam: 'RequestDocumentBlock' };

/** Tables that speak of a published type: the exact name, else the patterns. */
function tablesFor(type: string): FieldTable[] {
  const exact = MESSAGES_FIELDS.nested[type];
  if (exact !== undefined) return [exact];
  return Object.entries(MESSAGES_FIELDS.nested)
    .filter(([name]) => name.includes('*') && new RegExp(`^${name.replaceAll('*', '.*')}$`).test(type))
    .map(([, table]) => table);
}

for (const [file, root] of ROOTS) {
  const types = publishedTypes(file, root);

  test(`${root} of ${file.includes('/beta/') ? 'the beta types' : 'the stable types'}: every field has a fate`, () => {
    const missing = (types.get(root) ?? ['no such type']).filter(
      (field) => !Object.hasOwn(MESSAGES_FIELDS.request, field),
    );
    assert.deepEqual(missing, []);
  });

  test(`${root} of ${file.includes('/beta/') ? 'the beta types' : 'the stable types'}: so has every field of every nested type`, () => {
    const open: string[] = [];
    for (const [published, fields] of types) {
      if (published === root) continue;
      const name = published.replace(/^Beta/, '');
      const tables = tablesFor(RENAMED[name] ?? name);
      if (tables.length === 0) open.push(published);
      for (const table of tables)
        if (!Object.hasOwn(table, '*'))
          open.push(...fields.filter((field) => !Object.hasOwn(table, field)).map((field) => `${published}.${field}`));
      const kinds = new Set(tables.map((table) => table['*']?.kind));
      if (tables.length > 1 && kinds.size > 1) open.push(`${published} has ${tables.length} tables that disagree`);
    }
    assert.deepEqual(open, []);
  });
}

test('the tables name no type and no field that the published types do not have', () => {
  const types = new Map(ROOTS.flatMap(([file, root]) => [...publishedTypes(file, root)]));
  const names = [...types.keys()].map((name) => name.replace(/^Beta/, ''));
  const stale: string[] = [];
  for (const [pattern, table] of Object.entries(MESSAGES_FIELDS.nested)) {
    const matching = names.filter((name) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name));
    if (matching.length === 0) stale.push(pattern);
    const fields = new Set([...(types.get(`Beta${pattern}`) ?? []), ...(types.get(pattern) ?? [])]);
    for (const field of Object.keys(table)) if (field !== '*' && !fields.has(field)) stale.push(`${pattern}.${field}`);
  }
  assert.deepEqual(stale, []);
});

const SMALLEST = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };

/** A use of each field that is refused, where `{}` is none. */
const USES: Readonly<Record<string, unknown>> = {
  truncate_prompt_tokens: 5,
  continue_final_message: true,
  add_generation_prompt: false,
  echo: true,
  chat_template: 'x',
  best_of: 2,
  n: 2,
  background: true,
  truncation: 'auto',
  logprobs: true,
  top_logprobs: 1,
  previous_response_id: 'resp_1',
};

test('every field of the refused list is refused by its name', () => {
  const named: Record<string, string | null> = {};
  const wanted: Record<string, string> = {};
  for (const [field, fate] of Object.entries(MESSAGES_FIELDS.request)) {
    if (fate.kind !== 'refused') continue;
    const refusal = refuse({ ...SMALLEST, [field]: USES[field] ?? { some: 'value' } });
    named[field] = refusal.param;
    wanted[field] = field;
    assert.ok(refusal.message.startsWith(`${field}: `), refusal.message);
  }
  assert.deepEqual(named, wanted);
});

test('a null is no use of a field, whatever its fate', () => {
  const plain = upstreamText(convert(SMALLEST));
  for (const field of Object.keys(MESSAGES_FIELDS.request)) {
    if (Object.hasOwn(SMALLEST, field)) continue;
    assert.equal(upstreamText(convert({ ...SMALLEST, [field]: null })), plain, field);
  }
});

test('no field of the ignored list changes what goes up, or is told to the log as unknown', () => {
  const plain = upstreamText(convert(SMALLEST));
  for (const [field, fate] of Object.entries(MESSAGES_FIELDS.request)) {
    if (fate.kind !== 'ignored') continue;
    const request = convert({ ...SMALLEST, [field]: { some: 'value' } });
    assert.equal(upstreamText(request), plain, field);
    assert.deepEqual(request.ignored, [], field);
  }
});

test('a field that no list names is told to the log and not sent up', () => {
  const request = convert({ ...SMALLEST, wonder: 1 });
  assert.deepEqual(request.ignored, ['wonder']);
  assert.equal(upstreamText(request), upstreamText(convert(SMALLEST)));
});
