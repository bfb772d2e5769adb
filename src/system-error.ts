/** What the operating system refuses: a port that is taken, a file that is not there. A person can mend it. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error;
}
