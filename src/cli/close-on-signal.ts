import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A terminal and a supervisor can reach a process by several ways at once, its parents among them, which pass on what they are told. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Closes on the first signal, or after an unexpected error, and ends the process when that is done or after `delayMs`. A second signal, if it is none of the first one's
 * echoes, ends it at once.
 */
export function closeOnSignal(
  log: Pick<Logger, 'info' | 'error'>,
  delayMs: number,
  close: (why: { readonly signal: string | undefined; readonly err: unknown }) => Promise<void>,
): void {
  let signalled: { readonly signal: string; readonly atMs: number } | undefined;
  const grace = closeWithGrace({ delay: delayMs, logger: log as never, skip: [...SIGNALS] }, ({ err, signal }) =>
    close({ err, signal: signal ?? signalled?.signal }),
  );
  const onSignal = (signal: string) => {
    if (signalled === undefined) {
      signalled = { signal, atMs: performance.now() };
      grace.close();
    } else if (performance.now() - signalled.atMs > SAME_SIGNAL_MS) {
      log.error(`second ${signal}, exiting`);
      process.exit(1);
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
}
