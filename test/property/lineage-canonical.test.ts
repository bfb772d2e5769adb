import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import {
  canonicalArguments,
  canonicalFingerprint,
  canonicalReplay,
  pythonFloat,
} from '../../src/lineage/canonical-json.ts';
import type { JsonNode } from '../../src/protocol/json/json-node.ts';
import { isJsonProblem, parseJsonText } from '../../src/protocol/json/parse-json.ts';

const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' });

function parsed(text: string): JsonNode {
  const node = parseJsonText(text);
  assert.ok(!isJsonProblem(node), text);
  return node;
}

/** The same value with its members in another order. */
function reversed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(reversed);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node)
      .map(([key, member]) => [key, reversed(member)])
      .reverse(),
  );
}

test('both canonical forms are JSON of the same value, whatever the order and the white space, and are their own canonical form', () => {
  fc.assert(
    fc.property(value, (given) => {
      const text = JSON.stringify(given);
      for (const canonical of [canonicalReplay, canonicalFingerprint]) {
        const form = canonical(parsed(text));
        if (form === null) {
          // Only an integer token beyond 64 bits has no form here.
          assert.match(text, /\d{19,}/);
          continue;
        }
        assert.deepEqual(JSON.parse(form), JSON.parse(text));
        assert.equal(canonical(parsed(JSON.stringify(reversed(given), null, 1))), form);
        assert.equal(canonical(parsed(form)), form);
      }
    }),
  );
});

test('floats print so that they read back, and as floats', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (given) => {
      const text = pythonFloat(given);
      assert.ok(Object.is(Number(text), given), text);
      assert.match(text, /^-?\d+(\.\d+|\.\d+e[+-]\d{2,}|e[+-]\d{2,})$/);
      assert.equal(canonicalReplay(parsed(text)), text);
      assert.equal(
        canonicalFingerprint(parsed(canonicalFingerprint(parsed(text)) as string)),
        canonicalFingerprint(parsed(text)),
      );
    }),
    { numRuns: 2000 },
  );
});

test('arguments are equal exactly if their values are', () => {
  const withoutSign = (given: unknown): unknown => JSON.parse(JSON.stringify(given));
  const small = fc.jsonValue({ maxDepth: 2 });
  const pair = fc.oneof(
    fc.tuple(small, small),
    fc.tuple(value, value),
    value.map((one) => [one, reversed(one)] as const),
  );
  fc.assert(
    fc.property(pair, ([a, b]) => {
      assert.equal(
        canonicalArguments(JSON.stringify(a)) === canonicalArguments(JSON.stringify(b)),
        isDeepStrictEqual(withoutSign(a), withoutSign(b)),
      );
    }),
    { numRuns: 2000 },
  );
});

test('any text has a form; two texts that are no JSON have the same one only if they are the same', () => {
  const notJson = fc.string({ unit: 'binary' }).filter((text) => text !== '' && isJsonProblem(parseJsonText(text)));
  fc.assert(
    fc.property(notJson, notJson, fc.json(), (a, b, text) => {
      assert.equal(canonicalArguments(a) === canonicalArguments(b), a === b);
      assert.ok(canonicalArguments(a).isWellFormed());
      assert.notEqual(canonicalArguments(a), canonicalArguments(text));
      assert.notEqual(canonicalArguments(a), canonicalArguments(JSON.stringify(a)));
    }),
  );
});
