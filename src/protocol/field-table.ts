/**
 * What becomes of a field of a request. `mapped`: it goes up, as it is or converted. `refused`: a use of it is answered 400 that names it, on the
 * paths that the note says. `ignored`: accepted, read by nobody, sent to nobody; the note says why nothing is lost.
 */
export interface FieldFate {
  readonly kind: 'mapped' | 'refused' | 'ignored';
  readonly note: string;
}

/** Field name -> fate. A name stands once, so a field has exactly one fate. */
export type FieldTable = Readonly<Record<string, FieldFate>>;

/** One dialect's published list of fields (docs/compatibility.md is generated from it). */
export interface DialectFields {
  /** Top-level fields of the request. */
  readonly request: FieldTable;
  /** Nested objects, by the name that the published types give them. */
  readonly nested: Readonly<Record<string, FieldTable>>;
}

export const mapped = (note: string): FieldFate => ({ kind: 'mapped', note });
export const refused = (note: string): FieldFate => ({ kind: 'refused', note });
export const ignored = (note: string): FieldFate => ({ kind: 'ignored', note });

const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 64;

/** Names of an object that the table does not hold, for a log line: at most 20, each cut to 64 characters. */
export function unknownNames(keys: readonly string[], table: FieldTable): string[] {
  const out: string[] = [];
  for (const key of keys) {
    if (Object.hasOwn(table, key)) continue;
    const name = key.slice(0, MAX_NAME_LENGTH);
    if (!out.includes(name)) out.push(name);
    if (out.length === MAX_NAMES) break;
  }
  return out;
}
