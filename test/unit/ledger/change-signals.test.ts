import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChangeSignals } from '../../../src/ledger/change-signals.ts';

describe('change signals', () => {
  it('wake all who wait for the attempt, and nobody else', async () => {
    const signals = new ChangeSignals();
    const woken: string[] = [];
    const wait = async (attempt: string, name: string) => {
      await signals.wait(attempt, 60_000);
      woken.push(name);
    };
    const [one, two, other] = [wait('a', 'one'), wait('a', 'two'), wait('b', 'other')];
    signals.tell('a');
    signals.tell('unknown');
    await Promise.all([one, two]);
    assert.deepEqual(woken, ['one', 'two']);
    signals.tell('b');
    await other;
  });

  it('end by themselves when the time is up', async () => {
    await new ChangeSignals().wait('a', 0);
  });
});
