/** Where the ledger is, as `ledger.url` says it. */
export type LedgerUrl =
  | { readonly kind: 'sqlite'; readonly path: string }
  | ({ readonly kind: 'redis' } & Endpoint & RedisAccess)
  | ({ readonly kind: 'sentinel'; readonly sentinels: readonly Endpoint[]; readonly master: string } & RedisAccess)
  | ({ readonly kind: 'cluster'; readonly nodes: readonly Endpoint[] } & RedisAccess);

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface RedisAccess {
  readonly tls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  /** Database number; 0 on a cluster. */
  readonly db: number;
}

const FORMS =
  'sqlite:<path>, redis[s]://host:port[/db], redis[s]+sentinel://h:p,h:p/<master>[/db], redis[s]+cluster://h:p,h:p';
const DEFAULT_PORT = { redis: 6379, sentinel: 26379, cluster: 6379 };
const REDIS_FORM = /^redis(s)?(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?]+)(?:\/([^?]*))?$/;

/**
 * Reads `ledger.url`. Names and passwords are percent-encoded, `user:password@` or `:password@`, and hold for the data nodes.
 * Throws an Error that shows the accepted forms, and nothing of the URL itself: any part of it may be of a password that was not encoded.
 */
export function parseLedgerUrl(url: string): LedgerUrl {
  if (url.startsWith('sqlite:')) return parseSqlite(url);
  const form = REDIS_FORM.exec(url);
  if (!form) throw new Error(`ledger.url is none of ${FORMS}`);
  const [, secure, topology, credentials, hosts, path = ''] = form;
  const kind = (topology ?? 'redis') as 'redis' | 'sentinel' | 'cluster';
  const endpoints = hosts!.split(',').map((host) => parseEndpoint(host, DEFAULT_PORT[kind]));
  const access = { tls: secure === 's', ...parseCredentials(credentials) };
  switch (kind) {
    case 'redis':
      if (endpoints.length > 1) throw new Error('ledger.url: several hosts need redis+sentinel:// or redis+cluster://');
      return { kind, ...endpoints[0]!, ...access, db: parseDb(path) };
    case 'sentinel': {
      const [master = '', db = ''] = path.split('/');
      if (master === '') throw new Error('ledger.url: redis+sentinel:// needs the name of the master after the hosts');
      return { kind, sentinels: endpoints, master: decoded(master), ...access, db: parseDb(db) };
    }
    case 'cluster':
      if (path !== '' && path !== '0') throw new Error('ledger.url: a Redis Cluster has no numbered databases');
      return { kind, nodes: endpoints, ...access, db: 0 };
    default:
      return kind satisfies never;
  }
}

function parseSqlite(url: string): LedgerUrl {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '' || path.startsWith('//'))
    throw new Error('ledger.url: sqlite: needs a path, such as sqlite:./data/ledger.db');
  return { kind: 'sqlite', path };
}

function parseEndpoint(text: string, defaultPort: number): Endpoint {
  const form = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  const port = Number(form?.[2] ?? defaultPort);
  if (!form || text.includes('@') || port < 1 || port > 65_535)
    throw new Error(
      'ledger.url: where host:port should stand is something else; in names and passwords @ : / and % are written %40 %3A %2F and %25',
    );
  return { host: form[1]!.replace(/^\[|\]$/g, ''), port };
}

function parseCredentials(text: string | undefined): { username: string | null; password: string | null } {
  if (text === undefined || text === '') return { username: null, password: null };
  const colon = text.indexOf(':');
  const username = decoded(colon === -1 ? text : text.slice(0, colon));
  const password = colon === -1 ? null : decoded(text.slice(colon + 1));
  return { username: username === '' ? null : username, password };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('ledger.url: a % stands for itself somewhere; write it %25');
  }
}

function parseDb(text: string): number {
  if (!/^\d{0,4}$/.test(text)) throw new Error('ledger.url: what stands behind the host is no database number');
  return Number(text);
}
