import { faultIn, type InputFault, type RecordInput } from './input.ts';

/** Deflate achieves a ratio of at most about 1000 to 1 (RFC 1951). */
const maxRatio = 1100;
/** Number of bytes that any archive may contain in addition to what the ratio allows. */
const alwaysBytes = 64 * 1024 * 1024;

interface ArchiveSize {
  /** Number of unpacked bytes, declared or read so far. */
  readonly bytes: number;
  readonly packedBytes: number;
}

/** Refuses an archive (zip bomb) that contains more bytes than is plausible for its size. */
export function refuseBomb(input: RecordInput, { bytes, packedBytes }: ArchiveSize): void {
  if (bytes <= alwaysBytes + maxRatio * packedBytes) return;
  throw faultIn(input, {
    code: 'RECORDS_ARCHIVE_BOMB',
    message: 'the archive would unpack to far more data than is plausible for its size',
    seen: `${bytes} bytes or more`,
    next: 'do not trust the archive; ask its sender about it',
  });
}

/**
 * Passes Problems and system errors through. Any other error comes from the library that reads the archive, and means
 * that the archive is invalid; its message is added to the fault's.
 */
export function archiveFault(input: RecordInput, error: unknown, fault: InputFault): unknown {
  if (!(error instanceof Error) || 'family' in error || 'syscall' in error) return error;
  return faultIn(input, { ...fault, message: `${fault.message} (${error.message})` });
}
