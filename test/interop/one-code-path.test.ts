import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../config/load.ts';
import { buildStrategy } from '../../src/call/strategy/build-strategy.ts';

/** The two generations differ by a strategy and by the wire schemas, and no step asks which one it is. */

const ROOT = join(import.meta.dirname, '..', '..');
/** Where a generation may be told from the other: its two implementations, the wire, and what reads the wire on the other side. */
const APART = ['src/call/strategy/', 'src/protocol/wire/', 'src/trainer/', 'src/reference-worker/'];
/** Who names a generation without asking which: it is a value that goes through. */
const PASSED_ON: Readonly<Record<string, string>> = {
  'src/attempt/remove-attempts.ts': 'its reply says it',
  'src/cli/serve.ts': 'the first line of the log says it',
  'src/lineage/staged-digests.ts': 'a byte of the digest',
  'src/lineage/output-items.ts': 'a literal of rows that one generation has',
  'routes/operations/openapi.ts': 'the document describes the wire as configured',
  'routes/operations/openapi/json-schemas.ts': 'the same',
  'routes/operations/openapi/replies.ts': 'the same',
};
const NAMES = /schema_?version|\bschema_?[23]\b|schemaV[23]|RecordV[23]|fingerprint_?version/i;
const ASKS =
  /(?:schema_?version|fingerprint_?version)\b[^\n]{0,20}(?:[=!<>]==?|[<>])|[=!]==?[^\n]{0,40}schema_?version|switch \([^)]*schema_?version/i;

const files = globSync(['src/**/*.ts', 'routes/**/*.ts'], { cwd: ROOT })
  .filter((file) => !APART.some((folder) => file.startsWith(folder)))
  .map((file) => ({ file, code: withoutComments(readFileSync(join(ROOT, file), 'utf8')) }));

describe('one code path', () => {
  test('few files name a generation, each with a reason', () => {
    assert.deepEqual(
      files
        .filter(({ code }) => NAMES.test(code))
        .map(({ file }) => file)
        .toSorted(),
      Object.keys(PASSED_ON).toSorted(),
    );
  });

  test('and none of them asks which one it is', () => {
    assert.deepEqual(
      files.filter(({ code }) => ASKS.test(code)).map(({ file }) => file),
      [],
    );
  });

  test('the check finds what it looks for', () => {
    for (const code of [
      'if (schema_version === 2) return',
      'strategy.schemaVersion !== 3 ? a : b',
      'switch (ctx.strategy.schemaVersion) {',
      '3 === config.capture.schema_version',
      'fingerprintVersion < 3',
    ])
      assert.ok(ASKS.test(code), code);
    assert.ok(NAMES.test('schema2(shared)') && NAMES.test('manifestSchemaV3(key)'));
    assert.equal(withoutComments('a; // schema 2\n/** schema_version */ b; "http://x"'), 'a; \n b; "http://x"');
  });

  test('both generations do everything', () => {
    const [two, three] = (['2', '3'] as const).map((version) =>
      buildStrategy(loadConfig({ flags: { 'capture.schema_version': version } })),
    );
    assert.deepEqual(Object.keys(two ?? {}).toSorted(), Object.keys(three ?? {}).toSorted());
  });
});

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/[^\n]*/gm, '$1');
}
