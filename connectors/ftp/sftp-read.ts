import type { SFTPWrapper } from 'ssh2';

/** What every server takes in one request, and how many are on the way at a time: one by one, latency is all there is. */
const pieceBytes = 32 * 1024;
const ahead = 48;

interface Range {
  readonly from: number;
  readonly size: number;
}

interface Piece {
  readonly bytes: Buffer;
  /** False where the file ended sooner than its size had told. */
  readonly isWhole: boolean;
}

/** The pieces of an open file, in order, each asked for before it is waited for. */
export function* readAhead(sftp: SFTPWrapper, handle: Buffer, { from, size }: Range): Generator<Promise<Piece>> {
  const underway: Promise<Piece>[] = [];
  let at = from;
  while (at < size || underway.length > 0) {
    for (; at < size && underway.length < ahead; at += pieceBytes) {
      const piece = readPiece(sftp, handle, { at, bytes: Math.min(pieceBytes, size - at) });
      // If an earlier one fails, this one is no longer awaited.
      piece.catch(() => undefined);
      underway.push(piece);
    }
    yield underway.shift()!;
  }
}

/** Servers may answer with less than was asked for; the rest is then asked for again. */
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
