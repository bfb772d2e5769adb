import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { scriptKeys } from '../../../src/ledger/redis/keys.ts';
import { SCRIPTS } from '../../../src/ledger/redis/scripts.ts';

const LUA = new URL('../../../src/ledger/redis/lua/', import.meta.url);
const KEYS_DOC = readFileSync(new URL('../../../docs/redis-keys.md', import.meta.url), 'utf8');

describe('the Lua scripts', () => {
  it('are all loaded', () => {
    const files = readdirSync(LUA).filter((name) => name.endsWith('.lua'));
    assert.deepEqual(Object.keys(SCRIPTS).sort(), files.map((name) => name.replace('.lua', '')).sort());
  });

  it('make locals of the keys and arguments that their headers name', () => {
    const { lua, keys, args } = SCRIPTS.close;
    assert.deepEqual([keys, args], [['meta'], ['nowS']]);
    assert.ok(lua.startsWith('local meta = KEYS[1]\nlocal nowS = ARGV[1]\n'));
    // A list that goes on in the next lines of the header.
    assert.equal(SCRIPTS.admit.args.at(-1), 'delivered');
    assert.equal(SCRIPTS.admit.args.length, 19);
    assert.deepEqual(SCRIPTS.snapshot.args, []);
  });

  for (const script of Object.values(SCRIPTS)) {
    it(`${script.name} touches declared keys only, of one slot, that docs/redis-keys.md explains`, () => {
      const used = [...script.lua.matchAll(/redis\.call\('[A-Z]+', ([a-z]\w*)/g)].map(([, name]) => name!);
      assert.deepEqual(
        [...new Set(used)].filter((name) => !script.keys.includes(name)),
        [],
      );
      const slots = new Set(scriptKeys(script.keys, 'owner').map((key) => /\{(.*?)\}/.exec(key)?.[1]));
      assert.equal(slots.size, 1);
      for (const key of script.keys) assert.ok(KEYS_DOC.includes(`\`${key}\``), `${key} is not in docs/redis-keys.md`);
    });
  }
});
