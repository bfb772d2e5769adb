import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { RunningHash } from '../../../src/lineage/running-hash.ts';

const expected = (text: string) => createHash('sha256').update(text, 'latin1').digest('hex');

test('the digest is that of everything so far, however it came and however long it is', () => {
  for (const size of [1, 100, 1023, 1024, 1025, 5000, 20_000]) {
    const hash = new RunningHash('head ');
    let all = 'head ';
    for (let at = 0; at < 40; at++) {
      const piece = String.fromCharCode(at, 0x80 + at).repeat(size);
      hash.append(piece);
      all += piece;
      assert.equal(hash.digest(), expected(all), `piece ${at} of ${size}`);
      assert.equal(hash.digest('tail'), expected(`${all}tail`));
    }
  }
});

test('a fork and what it was made from go their own ways', () => {
  for (const size of [1, 2000, 20_000]) {
    const trunk = new RunningHash('x'.repeat(size));
    trunk.append('y'.repeat(size));
    const fork = trunk.fork();
    fork.append('fork');
    trunk.append('trunk');
    const both = 'x'.repeat(size) + 'y'.repeat(size);
    assert.equal(fork.digest(), expected(`${both}fork`));
    assert.equal(trunk.digest(), expected(`${both}trunk`));
  }
});
