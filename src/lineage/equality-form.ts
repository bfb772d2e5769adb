/** Longer strings stand behind their length instead of being escaped, which costs a tenth. `#` begins no JSON value. */
const FRAMED_LENGTH = 64;
/** Deepest value that is compared by value; deeper ones are compared as the text they are. */
const MAX_DEPTH = 512;

/**
 * The form in which tool-call arguments are compared (protocol section 3): by JSON value as a JavaScript client would write it back - keys
 * sorted, last duplicate wins, numbers as doubles in JavaScript's spelling, -0 as 0. The empty string is `{}`. What is not JSON is the exact
 * text, marked so that it can never equal a JSON value; so is a number beyond the doubles. Never an error; always well-formed Unicode.
 */
export function canonicalArguments(text: string): string {
  return text === '' ? '{}' : equalityForm(text);
}

/**
 * {@link canonicalArguments} for any JSON text. `keep` decides which members count, by name, value and depth of their object (0 is the
 * value itself).
 */
export function equalityForm(text: string, keep?: KeepMember): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return exactText(text);
  }
  const writer = new EqualityWriter(keep);
  const form = writer.write(value, 0);
  if (writer.tooDeep) return exactText(text);
  if (!writer.beyondDouble) return form;
  return isTooDeep(value, 0) ? exactText(text) : writer.write(parseKeepingSpellings(text), 0);
}

/**
 * The forms of the members of an object, by name, in order; null where the text is no JSON object, and where a number beyond the doubles makes
 * it one that is compared by its text alone.
 */
export function memberForms(text: string): Map<string, string> | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const writer = new EqualityWriter(undefined);
  const forms = (object: object) =>
    new Map(Object.entries(object).map(([key, member]) => [key, writer.write(member, 1)]));
  const found = forms(value);
  if (!writer.beyondDouble) return found;
  return isTooDeep(value, 0) ? null : forms(parseKeepingSpellings(text) as object);
}

export type KeepMember = (key: string, value: unknown, depth: number) => boolean;

/** `!` begins no JSON value. */
function exactText(text: string): string {
  return `!${JSON.stringify(text)}`;
}

/** A number beyond the doubles, with its own spelling: it equals nothing but itself. */
class BeyondDouble {
  readonly token: string;
  constructor(token: string) {
    this.token = token;
  }
}

class EqualityWriter {
  beyondDouble = false;
  tooDeep = false;
  private readonly keep: KeepMember | undefined;

  constructor(keep: KeepMember | undefined) {
    this.keep = keep;
  }

  write(value: unknown, depth: number): string {
    switch (typeof value) {
      case 'string':
        return value.length > FRAMED_LENGTH && value.isWellFormed()
          ? `#${value.length}:${value}`
          : JSON.stringify(value);
      case 'number':
        if (!Number.isFinite(value)) this.beyondDouble = true;
        return String(value);
      case 'boolean':
        return value ? 'true' : 'false';
    }
    if (value === null) return 'null';
    if (value instanceof BeyondDouble) return `!${value.token}`;
    if (depth >= MAX_DEPTH) {
      this.tooDeep = true;
      return '';
    }
    if (Array.isArray(value)) return this.list(value, depth);
    return this.object(value as Record<string, unknown>, depth);
  }

  private list(elements: readonly unknown[], depth: number): string {
    let out = '[';
    for (let at = 0; at < elements.length; at++) {
      if (at > 0) out += ',';
      out += this.write(elements[at], depth + 1);
    }
    return `${out}]`;
  }

  private object(members: Record<string, unknown>, depth: number): string {
    let out = '';
    for (const key of Object.keys(members).sort()) {
      const value = members[key];
      if (this.keep !== undefined && !this.keep(key, value, depth)) continue;
      out += `${out === '' ? '' : ','}${JSON.stringify(key)}:${this.write(value, depth + 1)}`;
    }
    return `{${out}}`;
  }
}

/** Whether any value in it, also one that does not count, is deeper than what is compared by value. */
function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= MAX_DEPTH || Object.values(value).some((member) => isTooDeep(member, depth + 1));
}

type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

/** Only for what is not {@link isTooDeep}: a parser with a reviver goes down by recursion, and ends in an error where the stack does. */
function parseKeepingSpellings(text: string): unknown {
  const parse = JSON.parse as ParseWithSource;
  return parse(text, (_key, value, context) =>
    typeof value === 'number' && !Number.isFinite(value) ? new BeyondDouble(context.source ?? '') : value,
  );
}
