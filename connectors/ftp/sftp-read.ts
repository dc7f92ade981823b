import type { SFTPWrapper } from 'ssh2';

/** Size of one request. Every server supports this size. */
const pieceBytes = 32 * 1024;
/** Number of concurrent requests. Sequential requests would be slow on connections with a high latency. */
const ahead = 48;

interface Range {
  readonly from: number;
  readonly size: number;
}

interface Piece {
  readonly bytes: Buffer;
  /** False if the file ended before the size that the server reported. */
  readonly isWhole: boolean;
}

/** An open file's pieces, in order. Later pieces are requested in advance. */
export function* readAhead(sftp: SFTPWrapper, handle: Buffer, { from, size }: Range): Generator<Promise<Piece>> {
  const underway: Promise<Piece>[] = [];
  let at = from;
  while (at < size || underway.length > 0) {
    for (; at < size && underway.length < ahead; at += pieceBytes) {
      const piece = readPiece(sftp, handle, { at, bytes: Math.min(pieceBytes, size - at) });
      // If an earlier piece fails, this piece's promise is never awaited.
      piece.catch(() => undefined);
      underway.push(piece);
    }
    yield underway.shift()!;
  }
}

/** Servers may return fewer bytes than requested; the remaining bytes are then requested again. */
async function readPiece(
  sftp: SFTPWrapper,
  handle: Buffer,
  { at, bytes }: { at: number; bytes: number },
): Promise<Piece> {
  const buffer = Buffer.allocUnsafe(bytes);
  let filled = 0;
  while (filled < bytes) {
    const count = await new Promise<number>((resolve, reject) => {
      sftp.read(handle, buffer, filled, bytes - filled, at + filled, (error, read) =>
        error === undefined || error === null ? resolve(read) : reject(error),
      );
    });
    if (count === 0) break;
    filled += count;
  }
  return { bytes: buffer.subarray(0, filled), isWhole: filled === bytes };
}
