import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const NAMES = [
  'add_failure',
  'admit',
  'client_gone',
  'close',
  'commit',
  'delivered',
  'drop_reply',
  'overview',
  'propose',
  'register',
  'release',
  'remove',
  'reply_of',
  'settle_orphans',
  'settle_refused',
  'snapshot',
  'take_orphans',
  'unlist',
  'void_admission',
] as const;

export type ScriptName = (typeof NAMES)[number];

/** A Lua file with its contract: the header names keys, arguments and included files; names become locals of the script. */
export interface Script {
  readonly name: ScriptName;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  readonly lua: string;
  readonly sha1: string;
}

function loadScript(name: ScriptName): Script {
  const source = readLua(`${name}.lua`);
  const header = readHeader(source);
  const keys = header.get('keys') ?? [];
  const args = header.get('args') ?? [];
  const included = (header.get('include') ?? []).map(readLua);
  const lua = [locals(keys, 'KEYS'), locals(args, 'ARGV'), ...included, source].join('\n');
  return { name, keys, args, lua, sha1: createHash('sha1').update(lua).digest('hex') };
}

const readLua = (file: string) => readFileSync(new URL(`./lua/${file}`, import.meta.url), 'utf8');

/** Lines `-- field: words`, continued by comment lines that are indented further. */
function readHeader(source: string): Map<string, string[]> {
  const header = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of source.split('\n')) {
    if (!line.startsWith('--')) break;
    const field = /^-- (keys|args|include):(.*)$/.exec(line);
    if (field) {
      current = [];
      header.set(field[1]!, current);
    } else if (!line.startsWith('--   ')) {
      current = undefined;
    }
    current?.push(...(field?.[2] ?? line.slice(2)).split(/\s+/).filter((word) => word !== ''));
  }
  return header;
}

function locals(names: readonly string[], table: string): string {
  if (names.length === 0) return '';
  return `local ${names.join(', ')} = ${names.map((_, index) => `${table}[${index + 1}]`).join(', ')}`;
}

export const SCRIPTS = Object.fromEntries(NAMES.map((name) => [name, loadScript(name)])) as Record<ScriptName, Script>;
