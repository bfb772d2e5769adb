import { configJsonSchema } from '../../config/describe.ts';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** What describes a key for our own documents, and says nothing to a validator. */
const OURS = new Set(['env', 'secret', 'list']);

/**
 * The chart's values schema with `config` as the program reads it. The chart itself says, with a better message, that workers are missing; its own
 * default is an empty list.
 */
export function withConfigSchema(valuesSchema: string): string {
  const schema = JSON.parse(valuesSchema) as { properties: { config: Json } };
  const {
    $schema: _,
    definitions: __,
    ...config
  } = plain(configJsonSchema('draft-07') as Json) as Record<string, Json>;
  const properties = config.properties as Record<string, { [name: string]: Json }>;
  delete properties.workers?.minItems;
  schema.properties.config = { description: "The proxy's configuration file.", ...config };
  return JSON.stringify(schema, null, 2);
}

/** Without members that are ours, without the defaults of whole sections, and without references, which lead out of the part that is taken. */
function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return {};
  const isSection = 'properties' in value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !(OURS.has(name) && typeof member !== 'object') && !(isSection && name === 'default'))
      .map(([name, member]) => [name, plain(member)]),
  );
}
