import { COMPATIBILITY } from '../../../src/protocol/compatibility.ts';
import type { Dialect } from '../../../src/protocol/conversation.ts';
import type { DialectFields, FieldTable } from '../../../src/protocol/field-table.ts';
import { ENGINE_EXTRAS, type FieldType, SAMPLING_FIELDS } from '../../../src/protocol/sampling-fields.ts';
import type { JsonObject } from './json-schemas.ts';

/** Requests of the model endpoints. Converters read them by hand, so their schemas are made from the tables that the converters are tested against. */

const TITLES: Readonly<Record<Dialect, string>> = {
  responses: 'ResponsesRequest',
  chat: 'ChatCompletionsRequest',
  messages: 'MessagesRequest',
};

/** What a body cannot do without. */
const REQUIRED: Readonly<Record<Dialect, readonly string[]>> = {
  responses: ['input'],
  chat: ['messages'],
  messages: ['messages'],
};

/** Types of fields that are no sampling fields; null is no use of a field that is not required. */
const TYPES: Readonly<Record<Dialect, Readonly<Record<string, JsonObject>>>> = {
  responses: { input: { type: ['string', 'array'] }, ...common() },
  chat: { messages: { type: 'array' }, ...common() },
  messages: { messages: { type: 'array' }, ...common() },
};

function common(): Record<string, JsonObject> {
  return {
    model: { type: ['string', 'null'] },
    stream: { type: ['boolean', 'null'] },
    tools: { type: ['array', 'null'] },
  };
}

const FIELD_TYPES: Readonly<Record<FieldType, JsonObject>> = {
  number: { type: ['number', 'null'] },
  integer: { type: ['integer', 'null'] },
  boolean: { type: ['boolean', 'null'] },
  string: { type: ['string', 'null'] },
  array: { type: ['array', 'null'] },
  object: { type: ['object', 'null'] },
  'string or strings': { type: ['string', 'array', 'null'] },
  'string or object': { type: ['string', 'object', 'null'] },
  any: {},
};

export function requestName(dialect: Dialect): string {
  return TITLES[dialect];
}

/** One schema per dialect, by name: every field with its fate and note, and under `$defs` every nested object by its published name. */
export function requestSchemas(): Record<string, JsonObject> {
  const dialects = Object.entries(COMPATIBILITY) as [Dialect, DialectFields][];
  return Object.fromEntries(dialects.map(([dialect, fields]) => [TITLES[dialect], requestSchema(dialect, fields)]));
}

function requestSchema(dialect: Dialect, { request, nested }: DialectFields): JsonObject {
  return {
    type: 'object',
    description:
      'Each field is mapped (it goes up to the engine, as it is or converted), refused (a use of it is answered 400 that names it), or ' +
      'ignored (accepted, and sent to nobody). Names that are not listed are ignored and counted. `$defs` says the same of the objects inside, by their published names.',
    required: REQUIRED[dialect],
    properties: properties(request, (name) => TYPES[dialect][name] ?? typeOf(name)),
    $defs: definitions(TITLES[dialect], nested),
  };
}

/** The nested objects by name; one that is like an earlier one refers to it. */
function definitions(title: string, nested: DialectFields['nested']): JsonObject {
  const first = new Map<string, string>();
  return Object.fromEntries(
    Object.entries(nested).map(([name, table]) => {
      const schema = nestedSchema(table);
      const text = JSON.stringify(schema);
      const earlier = first.get(text);
      if (earlier === undefined) first.set(text, name);
      return [
        name,
        earlier === undefined ? schema : { $ref: `#/components/schemas/${title}/$defs/${pointerPart(earlier)}` },
      ];
    }),
  );
}

/** A name as a part of a JSON pointer in a URI fragment. */
function pointerPart(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** `*` stands for every field that is not named. */
function nestedSchema({ '*': rest, ...named }: FieldTable): JsonObject {
  return {
    type: 'object',
    ...(Object.keys(named).length === 0 ? {} : { properties: properties(named, () => ({})) }),
    ...(rest === undefined ? {} : { additionalProperties: fate(rest) }),
  };
}

function properties(table: FieldTable, type: (name: string) => JsonObject): JsonObject {
  const names = Object.keys(table).sort();
  return Object.fromEntries(names.map((name) => [name, { ...type(name), ...fate(table[name]) }]));
}

function fate(entry: FieldTable[string] | undefined): JsonObject {
  return entry === undefined ? {} : { description: `${entry.kind}: ${entry.note}`, 'x-fate': entry.kind };
}

function typeOf(name: string): JsonObject {
  const type = SAMPLING_FIELDS[name] ?? ENGINE_EXTRAS[name];
  return type === undefined ? {} : FIELD_TYPES[type];
}
