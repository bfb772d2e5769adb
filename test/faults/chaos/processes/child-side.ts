/** What every child process of the harness does on its side. */

/** The settings that the harness gave. */
export function settingsOf<T>(): T {
  return JSON.parse(process.argv[2] as string) as T;
}

export function tell(message: object): void {
  process.send?.(message);
}

/** Says that it is ready; from now on it ends when the harness does. */
export function ready(): void {
  process.once('disconnect', () => process.exit(0));
  tell({ ready: true });
}
