import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { RowSpool } from '../../../src/trainer/rows-run/row-spool.ts';

const temporary = () => readdirSync(tmpdir()).filter((name) => name.startsWith('rows-spool-')).length;

test('texts come back in order, from memory and from the temporary file, which is gone afterwards', () => {
  const before = temporary();
  const spool = new RowSpool();
  const texts = Array.from({ length: 40 }, (_, at) => `${at}é`.repeat(at % 3 === 0 ? 400_000 : 1));
  for (const text of texts) spool.add(text);
  assert.equal(temporary(), before + 1);
  assert.deepEqual([...spool.read()].map(String), texts);
  spool.close();
  assert.equal(temporary(), before);
});

test('few texts need no file', () => {
  const before = temporary();
  const spool = new RowSpool();
  spool.add('a');
  spool.add('');
  assert.deepEqual([[...spool.read()].map(String), temporary()], [['a', ''], before]);
  spool.close();
});
