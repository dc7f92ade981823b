const deepestCause = 5;

/**
 * The system error for too many open files in this process (EMFILE) or on the machine (ENFILE); undefined for any other
 * error.
 */
export function openFilesError(thrown: unknown, depth = 0): NodeJS.ErrnoException | undefined {
  if (!(thrown instanceof Error) || depth > deepestCause) return undefined;
  const { code } = thrown as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE' ? thrown : openFilesError(thrown.cause, depth + 1);
}
