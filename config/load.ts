import { readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';
import type { z } from 'zod';
import { type ConfigKey, configKeys, ENV_PREFIX } from './describe.ts';
import { type Config, configSchema } from './schema.ts';

/** A configuration that cannot be used: one line per fault, each naming its key and where it was set. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`the configuration cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

export interface ConfigSources {
  /** Path of a YAML file. */
  readonly file?: string | undefined;
  /** Usually process.env. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Flag values by `section.key`. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** Variables that start like ours but belong to others: the image's own, and the command line's. */
const OTHER_VARIABLES = new Set(['GYM_PROXY_CONFIG', 'GYM_PROXY_TEST_REDIS', 'GYM_PROXY_URL']);

/**
 * Reads the configuration: YAML file, then environment, then flags; later ones win. Unknown keys and unknown GYM_PROXY_* variables are errors that name
 * the nearest known one. Throws {@link ConfigError} with every fault that was found.
 */
export function loadConfig(sources: ConfigSources = {}): Config {
  const problems: string[] = [];
  const tree: Record<string, unknown> = readFile(sources.file, problems);
  const keys = configKeys();
  readEnvironment(sources.env ?? {}, keys, tree, problems);
  for (const [path, text] of Object.entries(sources.flags ?? {})) {
    const key = keys.find((known) => known.path === path);
    if (key === undefined)
      problems.push(
        `unknown key ${path}${nearest(
          path,
          keys.map((known) => known.path),
        )}`,
      );
    else set(tree, key, readText(key, text, `--${path}`, problems));
  }
  const parsed = configSchema.safeParse(tree);
  if (parsed.success) problems.push(...problemsBetweenKeys(parsed.data));
  else problems.push(...parsed.error.issues.flatMap((issue) => describeIssue(issue, keys)));
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);
  return withOnePort(parsed.data);
}

function problemsBetweenKeys({ worker, workers }: Config): string[] {
  return Object.keys(worker.api_keys)
    .filter((url) => !workers.includes(url))
    .map((url) => `worker.api_keys: ${url} is none of workers`);
}

/** A control port that is the agents' one is no port of its own. */
function withOnePort(config: Config): Config {
  const { control, server } = config;
  const isOther = control.port === 0 || control.port !== server.port || (control.host ?? server.host) !== server.host;
  return isOther ? config : { ...config, control: { ...control, port: null } };
}

function readFile(file: string | undefined, problems: string[]): Record<string, unknown> {
  if (file === undefined) return {};
  try {
    const tree: unknown = readYaml(readFileSync(file, 'utf8')) ?? {};
    if (typeof tree === 'object' && tree !== null && !Array.isArray(tree)) {
      // A section of which every key is commented out.
      return Object.fromEntries(Object.entries(tree).filter(([, section]) => section !== null));
    }
    problems.push(`${file}: expected a mapping of sections`);
  } catch (error) {
    // The lines after the first show the text around the fault, which may be a secret.
    problems.push(`${file}: ${firstLine(error)}`);
  }
  return {};
}

function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  keys: readonly ConfigKey[],
  tree: Record<string, unknown>,
  problems: string[],
): void {
  const known = new Map<string, ConfigKey>(keys.map((key) => [key.env, key]));
  const files = new Map<string, ConfigKey>(keys.filter((key) => key.secret).map((key) => [`${key.env}_FILE`, key]));
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(ENV_PREFIX) || text === undefined || text === '' || OTHER_VARIABLES.has(name)) continue;
    const key = known.get(name);
    const fileKey = files.get(name);
    if (fileKey !== undefined && (env[fileKey.env] ?? '') !== '')
      problems.push(`${name}: ${fileKey.env} is set, too; which one is meant?`);
    else if (key !== undefined) set(tree, key, readText(key, text, name, problems));
    else if (fileKey !== undefined) {
      try {
        set(tree, fileKey, readText(fileKey, readFileSync(text, 'utf8').trim(), name, problems));
      } catch (error) {
        problems.push(`${name}: ${(error as Error).message}`);
      }
    } else {
      const meant = keys.find(({ path }) => name === ENV_PREFIX + path.toUpperCase().replaceAll('.', '_'));
      const hint = meant ? `; did you mean ${meant.env}?` : nearest(name, [...known.keys(), ...files.keys()]);
      problems.push(`unknown variable ${name}${hint}`);
    }
  }
}

function readText(key: ConfigKey, text: string, source: string, problems: string[]): unknown {
  if (key.list && !text.trimStart().startsWith('['))
    return text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  if (key.text) return text === 'null' && key.default === null ? null : text;
  try {
    return readYaml(text);
  } catch (error) {
    problems.push(`${source}: ${firstLine(error)}`);
    return undefined;
  }
}

/** Warnings, which the parser would print with the line that they are about, are none of ours. */
function readYaml(text: string): unknown {
  return parseYaml(text, { logLevel: 'error' });
}

/** The fault without the text around it, which may be a secret: also the name of an alias, which is what a value that begins with `*` is taken for. */
function firstLine(error: unknown): string {
  const line = (error as Error).message.split('\n')[0] as string;
  return line
    .replace(/:$/, '')
    .replace(/^(Unresolved alias\b[^:]*): .*$/, '$1 (put a value that begins with * into quotes)');
}

function set(tree: Record<string, unknown>, key: ConfigKey, value: unknown): void {
  const path = key.path.split('.');
  let at = tree;
  for (const name of path.slice(0, -1)) {
    at[name] ??= {};
    // No section: the schema says so.
    if (typeof at[name] !== 'object') return;
    at = at[name] as Record<string, unknown>;
  }
  at[path.at(-1) as string] = value;
}

function describeIssue(issue: z.core.$ZodIssue, keys: readonly ConfigKey[]): string[] {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = [...new Set(keys.flatMap((key) => [key.path, key.path.split('.')[0] as string]))];
    return issue.keys.map((name) => {
      const full = path === '' ? name : `${path}.${name}`;
      return `unknown key ${full}${nearest(full, known)}`;
    });
  }
  const key = keys.find((known) => path === known.path || path.startsWith(`${known.path}.`));
  return [`${path}${key === undefined ? '' : ` (${key.env})`}: ${issue.message}`];
}

/** `; did you mean X?`, or nothing where no known name is near. */
export function nearest(name: string, known: readonly string[]): string {
  let best = '';
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return bestDistance <= Math.max(3, name.length / 3) ? `; did you mean ${best}?` : '';
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((next[j - 1] as number) + 1, (row[j] as number) + 1, (row[j - 1] as number) + same));
    }
    row = next;
  }
  return row[b.length] as number;
}
