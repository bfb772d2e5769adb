export type Json = Record<string, unknown>;

/** The JSON object that a text is; undefined for every other text. */
export function jsonOf(text: string): Json | undefined {
  try {
    return object(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function object(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The whole events of an event stream that carry data; comments and what has no end yet are left out. */
export function events(text: string): { readonly data: string }[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const data = block.split('\n').filter((line) => line.startsWith('data:'));
      return data.length === 0 ? [] : [{ data: data.map((line) => line.slice(5).trimStart()).join('\n') }];
    });
}
