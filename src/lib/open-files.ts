const deepestCause = 5;

/** The error of the system that says that this process (EMFILE) or the machine (ENFILE) has too many open files; undefined for any other. */
export function openFilesError(thrown: unknown, depth = 0): NodeJS.ErrnoException | undefined {
  if (!(thrown instanceof Error) || depth > deepestCause) return undefined;
  const { code } = thrown as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE' ? thrown : openFilesError(thrown.cause, depth + 1);
}
