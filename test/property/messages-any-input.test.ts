import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evidenceOf } from '../../src/lineage/evidence.ts';
import { assistantFingerprint } from '../../src/lineage/fingerprints.ts';
import { isRefusal } from '../../src/protocol/conversation.ts';
import { convertCountTokens, messages } from '../../src/protocol/messages/index.ts';
import { CONVERSION, json, upstreamText } from '../support/messages-dialect.ts';

/** A body in which everything of the dialect stands once. */
const FULL = {
  model: 'm',
  max_tokens: 9,
  stream: true,
  system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral' } }],
  temperature: 1,
  stop_sequences: ['a'],
  output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
  tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
  tools: [
    { name: 'f', description: 'd', input_schema: { type: 'object', properties: { _raw: {} } } },
    { type: 'web_search_20250305', name: 'w' },
  ],
  messages: [
    { role: 'system', content: 'L' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'r', signature: 's' },
        { type: 'text', text: 'x' },
        { type: 'redacted_thinking', data: 'd' },
        { type: 'tool_use', id: 'i', name: 'f', input: { a: 1 } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'i',
          is_error: true,
          content: [
            { type: 'text', text: 'o' },
            { type: 'image', source: { type: 'url', url: 'u' } },
          ],
        },
        { type: 'document', title: 't', source: { type: 'text', media_type: 'text/plain', data: 'D' } },
        { type: 'search_result', title: 't', source: 'u', content: [{ type: 'text', text: 'o' }] },
      ],
    },
    { role: 'system', content: [{ type: 'text', text: 'late' }] },
  ],
};

/** Paths to every value of a body. */
function paths(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [path, ...keys.flatMap((key) => paths((value as Record<string | number, unknown>)[key], [...path, key]))];
}

function replaceAt(value: unknown, path: readonly (string | number)[], by: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  copy[key] = replaceAt(copy[key], rest, by);
  return copy;
}

const PATHS = paths(FULL);
const STRANGE = fc.oneof(
  fc.constantFrom(
    null,
    '',
    'x',
    0,
    -1.5,
    true,
    [],
    {},
    [[]],
    [{}],
    [null],
    ['x'],
    { type: 'text' },
    { type: 'tool_result' },
    { type: 7 },
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

test('whatever stands in the place of a value, the answer is a conversion or a refusal that names its place', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...PATHS), STRANGE), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      (edits, captured) => {
        let body: unknown = FULL;
        // Inner places first, so that a later edit still finds its way.
        for (const [path, by] of edits.toSorted(([a], [b]) => b.length - a.length)) body = replaceAt(body, path, by);
        for (const convert of [messages.convert, convertCountTokens]) {
          const request = convert(json(JSON.stringify(body)), { ...CONVERSION, captured });
          if (isRefusal(request)) {
            assert.ok(request.param !== null && request.message.startsWith(`${request.param}: `), request.message);
            assert.ok(request.message.length < 400, request.message);
            continue;
          }
          JSON.parse(upstreamText(request));
          for (const message of request.messages) evidenceOf(message, 'required');
          assistantFingerprint(request.fingerprintItems);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('the untouched body is converted', () => {
  const request = messages.convert(json(JSON.stringify(FULL)), CONVERSION);
  assert.ok(!isRefusal(request));
  assert.deepEqual(
    request.messages.map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool', 'user', 'user', 'user'],
  );
});
