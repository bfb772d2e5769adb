import { Cluster, type Redis } from 'ioredis';
import type { LedgerCheck } from '../ledger.ts';
import type { LedgerOptions } from '../options.ts';
import type { Client } from './client.ts';

type Wanted = NonNullable<LedgerOptions['wantDurability']>;

/** What the servers really give. Managed ones, or the rights of the user, may forbid CONFIG or INFO: then a check says `unknown` and does not fail. */
export async function checkRedis(client: Client, wanted: Wanted): Promise<LedgerCheck[]> {
  let nodes: Redis[];
  try {
    if (client instanceof Cluster) {
      const state = fields(String(await client.cluster('INFO')));
      nodes = client.nodes('master');
      if (state.get('cluster_state') !== 'ok') {
        return [{ name: 'ledger_reachable', ok: false, detail: `Redis Cluster: ${state.get('cluster_state')}` }];
      }
    } else {
      nodes = [client];
    }
    const checks = await Promise.all(nodes.map((node) => checkNode(node, wanted)));
    return mergeNodes(nodes, checks);
  } catch (error) {
    return [{ name: 'ledger_reachable', ok: false, detail: (error as Error).message }];
  }
}

async function checkNode(node: Redis, wanted: Wanted): Promise<LedgerCheck[]> {
  const info = await infoOf(node);
  if (info === null) return checksWithoutInfo(wanted);
  const config = async (name: string) => {
    try {
      return ((await node.config('GET', name)) as string[])[1] ?? null;
    } catch {
      return null;
    }
  };
  return [
    {
      name: 'ledger_reachable',
      ok: true,
      detail: `${info.get('server_name') ?? 'redis'} ${info.get('valkey_version') ?? info.get('redis_version')}, ${info.get('redis_mode')}`,
    },
    checkPersistence(info, await config('appendonly'), await config('save')),
    checkSync(info, await config('appendfsync'), wanted),
    checkEviction(info.get('maxmemory_policy') ?? (await config('maxmemory-policy')), info.get('maxmemory')),
    checkReplicas(info, wanted),
  ];
}

/** Null where the user may not ask for it. */
async function infoOf(node: Redis): Promise<Map<string, string> | null> {
  try {
    return fields(await node.info());
  } catch (error) {
    if (!(error as Error).message.startsWith('NOPERM')) throw error;
    return null;
  }
}

/** Replicas that writes must wait for must be seen. */
function checksWithoutInfo(wanted: Wanted): LedgerCheck[] {
  const detail = 'unknown (INFO is not allowed)';
  return [
    { name: 'ledger_reachable', ok: true, detail: 'redis, version unknown (INFO is not allowed)' },
    { name: 'ledger_persistence', ok: true, detail },
    { name: 'ledger_sync', ok: true, detail },
    { name: 'ledger_eviction', ok: true, detail },
    { name: 'ledger_replicas', ok: (wanted.waitReplicas ?? 0) === 0, detail },
  ];
}

function checkPersistence(
  info: ReadonlyMap<string, string>,
  appendonly: string | null,
  save: string | null,
): LedgerCheck {
  const name = 'ledger_persistence';
  const isOn = info.get('aof_enabled') === '1' || appendonly === 'yes';
  if (isOn) {
    const status = info.get('aof_last_write_status') ?? 'unknown';
    return { name, ok: status !== 'err', detail: `append-only file on, last write ${status}` };
  }
  if (save === null)
    return { name, ok: false, detail: 'no append-only file; snapshots unknown (CONFIG is not allowed)' };
  return {
    name,
    ok: false,
    detail:
      save === ''
        ? 'persistence is off: a restart loses the ledger'
        : `snapshots only (${save}): a restart loses minutes`,
  };
}

function checkSync(info: ReadonlyMap<string, string>, appendfsync: string | null, wanted: Wanted): LedgerCheck {
  const name = 'ledger_sync';
  const isWanted = wanted.appendfsyncAlways === true;
  if (info.get('aof_enabled') === '0')
    return { name, ok: !isWanted, detail: 'nothing is synced: there is no append-only file' };
  if (appendfsync === null) return { name, ok: true, detail: 'appendfsync unknown (CONFIG is not allowed)' };
  const detail = `appendfsync ${appendfsync}${appendfsync === 'always' ? '' : ': a crash of the machine can lose the last second or more'}`;
  return { name, ok: !isWanted || appendfsync === 'always', detail };
}

function checkEviction(policy: string | null, maxmemory: string | undefined): LedgerCheck {
  const name = 'ledger_eviction';
  if (policy === null) return { name, ok: true, detail: 'maxmemory-policy unknown' };
  const isSafe = policy === 'noeviction' || maxmemory === '0';
  return {
    name,
    ok: isSafe,
    detail: `maxmemory-policy ${policy}${isSafe ? '' : ': records may be evicted; it must be noeviction'}`,
  };
}

function checkReplicas(info: ReadonlyMap<string, string>, wanted: Wanted): LedgerCheck {
  const replicas = Number(info.get('connected_slaves') ?? 0);
  const wantedReplicas = wanted.waitReplicas ?? 0;
  return {
    name: 'ledger_replicas',
    ok: replicas >= wantedReplicas,
    detail: `${replicas} connected, ${wantedReplicas} must acknowledge each write`,
  };
}

/** One entry per check; on a cluster it is as good as its worst node, which it names. */
function mergeNodes(nodes: readonly Redis[], checks: readonly LedgerCheck[][]): LedgerCheck[] {
  return checks[0]!.map((first, index) => {
    const worst = checks.findIndex((node) => !node[index]!.ok);
    if (worst === -1)
      return nodes.length === 1 ? first : { ...first, detail: `${first.detail} (${nodes.length} nodes)` };
    const { host, port } = nodes[worst]!.options;
    const check = checks[worst]![index]!;
    return nodes.length === 1 ? check : { ...check, detail: `${host}:${port}: ${check.detail}` };
  });
}

/** `name:value` lines of INFO. */
function fields(info: string): Map<string, string> {
  return new Map(
    info
      .split('\r\n')
      .flatMap((line) =>
        line.includes(':') ? [[line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)] as const] : [],
      ),
  );
}
