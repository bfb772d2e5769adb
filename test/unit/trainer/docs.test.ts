import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { REASONS } from '../../../src/trainer/index.ts';
import { trainerPictures } from '../../support/trainer-pictures.ts';

const path = new URL('../../../docs/trainer.md', import.meta.url);
const text = readFileSync(path, 'utf8');

test('docs/trainer.md lists every reason code in the words of the catalogue', () => {
  const listed = [...text.matchAll(/^\| `([a-z_]+)` \| (.+) \|$/gm)].map(([, code, words]) => [code, words]);
  const catalogue = Object.entries(REASONS);
  assert.deepEqual(
    listed.filter(([code]) => code !== undefined && code in REASONS),
    catalogue,
  );
});

test('the pictures of docs/trainer.md are those of real runs', async () => {
  for (const [name, picture] of Object.entries(await trainerPictures())) {
    assert.ok(text.includes(`\`\`\`\n${picture}\n\`\`\``), `the picture ${name} is now:\n${picture}`);
  }
});

test('what docs/trainer.md links to is there', () => {
  for (const [, target] of text.matchAll(/\]\((\.\.[^)]+)\)/g)) {
    assert.ok(existsSync(new URL(target as string, path)), target);
  }
});
