import { createHash } from 'node:crypto';
import type { CommitRequest, Ledger } from '../../../../src/ledger/ledger.ts';
import { SCRIPTS, type ScriptName } from '../../../../src/ledger/redis/scripts.ts';
import { Sweeper } from '../../../../src/ledger/redis/sweeper.ts';
import { SqliteLedger } from '../../../../src/ledger/sqlite/sqlite-ledger.ts';

/** Bugs that are planted into a replica, to show that the harness finds them. Each breaks one promise of the ledger, from outside of the production code. */
export const PLANTS = {
  'commit-after-reply': 'the reply goes out before its record is durable',
  'unidempotent-script': 'a commit that runs again after its answer was lost writes again (Redis)',
  'lost-sweep': 'nobody settles what dead replicas left',
  'leaky-close': 'a closed attempt takes calls (Redis)',
  'half-delete': 'a deleted attempt leaves its intents to its successor (Redis)',
} as const;
export type Plant = keyof typeof PLANTS;

const COMMITS_AFTER_MS = 120;

/** Bugs in the code, before anything is started. */
export function plantBefore(plant: Plant): void {
  const change = SCRIPT_CHANGES[plant];
  if (change !== undefined) changeScript(...change);
  if (plant !== 'lost-sweep') return;
  Sweeper.prototype.settleOrphans = async () => ({ deadReplicas: [], settledCalls: 0, settled: [] });
  SqliteLedger.prototype.sweep = async () => ({ deadReplicas: [], settledCalls: 0 });
}

/** What a script says, and what it says with the bug. */
const SCRIPT_CHANGES: Partial<Record<Plant, readonly [name: ScriptName, from: string, to: string]>> = {
  'unidempotent-script': ['commit', "if call.s == 'c' then", 'if false then'],
  'leaky-close': ['close', "redis.call('HSET', meta, 'state', 'closed')", 'local _ = state'],
  'half-delete': ['remove', "UNLINK', meta, calls, admitted, pending,", "UNLINK', meta, pending,"],
};

/** Bugs in a running ledger. */
export function plantInto(plant: Plant, ledger: Ledger): void {
  if (plant !== 'commit-after-reply') return;
  const commit = ledger.commit.bind(ledger);
  ledger.commit = async (request: CommitRequest) => {
    setTimeout(() => {
      commit(request).catch((error: Error) => process.stderr.write(`${error.message}\n`));
    }, COMMITS_AFTER_MS);
    return 'committed';
  };
}

export const needsRedis = (plant: Plant) => PLANTS[plant].includes('(Redis)');

function changeScript(name: ScriptName, from: string, to: string): void {
  const script = SCRIPTS[name];
  if (!script.lua.includes(from)) throw new Error(`${name}.lua has changed: it does not say ${from}`);
  const lua = script.lua.replace(from, to);
  Object.assign(SCRIPTS, { [name]: { ...script, lua, sha1: createHash('sha1').update(lua).digest('hex') } });
}
