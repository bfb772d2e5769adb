import { z } from 'zod';
import { configSchema, type KeyMeta } from './schema.ts';

/** One key of the configuration as people see it. */
export interface ConfigKey {
  /** `section.key`. */
  readonly path: string;
  readonly env: string;
  readonly flag: string;
  readonly description: string;
  readonly default: unknown;
  readonly secret: boolean;
  readonly list: boolean;
  /** The text is taken as it is, not read as YAML. */
  readonly text: boolean;
  /** The allowed values, where they are few. */
  readonly values: readonly string[] | null;
}

export const ENV_PREFIX = 'GYM_PROXY_';

function unwrap(schema: z.ZodType): z.ZodType {
  let inner = schema;
  for (;;) {
    const def = inner.def as { type: string; innerType?: z.ZodType; in?: z.ZodType };
    if (def.type === 'default' || def.type === 'prefault' || def.type === 'nullable' || def.type === 'optional') {
      inner = def.innerType as z.ZodType;
    } else if (def.type === 'pipe') {
      inner = def.in as z.ZodType;
    } else {
      return inner;
    }
  }
}

function* walk(schema: z.ZodType, path: string[]): IterableIterator<[path: string[], leaf: z.ZodType]> {
  const inner = unwrap(schema);
  if (path.length < 2 && inner instanceof z.ZodObject) {
    for (const [name, member] of Object.entries(inner.shape)) yield* walk(member as z.ZodType, [...path, name]);
    return;
  }
  yield [path, schema];
}

/** Every key of the configuration, in the order of the schema. */
export function configKeys(): ConfigKey[] {
  return [...walk(configSchema, [])].map(([path, leaf]) => {
    const meta = (leaf.meta() ?? {}) as KeyMeta;
    const inner = unwrap(leaf);
    const type = (inner.def as { type: string }).type;
    return {
      path: path.join('.'),
      env: ENV_PREFIX + (meta.env ?? path.join('_').toUpperCase()),
      flag: `--${path.join('-').replaceAll('_', '-')}`,
      description: meta.description,
      default: leaf.parse(undefined),
      secret: meta.secret === true,
      list: meta.list === true,
      text: type === 'string' || type === 'enum',
      values: inner instanceof z.ZodEnum ? inner.options.map(String) : null,
    };
  });
}

/** The default as one short text. */
export function defaultText(key: ConfigKey): string {
  if (key.default === null) return 'none';
  if (Array.isArray(key.default)) return key.default.join(', ');
  if (typeof key.default === 'object') return JSON.stringify(key.default);
  return String(key.default);
}

/** Markdown table of all keys, for the README and docs. */
export function configTable(): string {
  const rows = configKeys().map((key) => {
    const variable = `\`${key.env}\`${key.secret ? ', `..._FILE`' : ''}`;
    const values = key.values === null ? '' : ` (${key.values.map((value) => `\`${value}\``).join(', ')})`;
    return `| \`${key.path}\` | ${variable} | ${defaultCell(key)} | ${key.description}${values} |`;
  });
  return ['| key | environment | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function defaultCell(key: ConfigKey): string {
  const text = defaultText(key);
  return text === 'none' ? text : `\`${text}\``;
}

/** JSON Schema of the configuration file, for the chart's values (Helm reads draft 7) and for editors. */
export function configJsonSchema(target: 'draft-07' | 'draft-2020-12' = 'draft-2020-12'): object {
  return z.toJSONSchema(configSchema, { io: 'input', target, unrepresentable: 'any' });
}
