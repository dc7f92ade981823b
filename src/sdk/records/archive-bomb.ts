import { faultIn, type RecordInput } from './input.ts';

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
