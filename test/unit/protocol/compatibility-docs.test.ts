import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { COMPATIBILITY_DOC, compatibilityMarkdown } from '../../../scripts/compatibility-docs.ts';

test('docs/compatibility.md is what the tables say (else run: node scripts/compatibility-docs.ts)', () => {
  assert.equal(readFileSync(COMPATIBILITY_DOC, 'utf8'), compatibilityMarkdown());
});
