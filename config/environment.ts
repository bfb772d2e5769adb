/** The process's environment. The only place of the service that reads it. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
