const MAX_LENGTH = 64;

/** A value of the client's in an error message: short, on one line. */
export function quoted(text: string | undefined): string {
  if (text === undefined) return 'none';
  return JSON.stringify(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text);
}
