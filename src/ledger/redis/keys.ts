import { RecentCache } from '../recent-cache.ts';

/**
 * Names of keys, version 1 (`gmp:1:`); docs/redis-keys.md is the table. Everything of one attempt shares the hash slot of `{<attempt>}`; what spans attempts
 * shares `{all}`; what belongs to one replica shares `{replica:<id>}`.
 */
const PREFIX = 'gmp:1:';

const LIST_KEYS = new Set(['names', 'live', 'replicas', 'census', 'gauges']);
const REPLICA_KEYS = new Set(['lease', 'attempts', 'orphaned']);

export const attemptKey = (attempt: string, name: string) => `${PREFIX}{${attempt}}:${name}`;
export const listKey = (name: string) => `${PREFIX}{all}:${name}`;
export const replicaKey = (replica: string, name: string) => `${PREFIX}{replica:${replica}}:${name}`;

const MOST_OWNERS = 1000;
const KNOWN = new RecentCache<string, Map<readonly string[], readonly string[]>>(MOST_OWNERS);

/** The full names of a script's keys, put together once for all calls of an attempt. `owner`: an attempt, or a replica for the keys of replicas. */
export function scriptKeys(names: readonly string[], owner: string): readonly string[] {
  let known = KNOWN.get(owner);
  if (known === undefined) {
    known = new Map();
    KNOWN.set(owner, known);
  }
  let keys = known.get(names);
  if (keys === undefined) {
    keys = names.map((name) => {
      if (LIST_KEYS.has(name)) return listKey(name);
      return REPLICA_KEYS.has(name) ? replicaKey(owner, name) : attemptKey(owner, name);
    });
    known.set(names, keys);
  }
  return keys;
}

/** A key in the hash slot of another one, which is one of ours. */
export const keyBeside = (key: string, name: string) => `${key.slice(0, key.indexOf('}') + 1)}:${name}`;
