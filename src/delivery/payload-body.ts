import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** Larger pieces cost memory, smaller ones time. */
const pieceBytes = 512 * 1024;
/** One is with the socket, one waits in the stream, one is being filled. */
const buffers = 3;

/**
 * A payload's file as the body of one request. The same few buffers are filled again and again: a fresh one for every
 * piece would double the time of an upload to a fast service. So whoever reads must be done with a piece when it asks
 * for the one after the next, as a socket is whose `drain` is waited for.
 */
export function payloadBody({ path, bytes }: { path: string; bytes: number }): Readable {
  // Of a small payload only as much as it is: a megabyte and a half for each would be collected as garbage all the time.
  const size = Math.min(pieceBytes, bytes + 1);
  return Readable.from(piecesOf(path, size), { objectMode: false, highWaterMark: size });
}

async function* piecesOf(path: string, size: number): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    const ring = Array.from({ length: buffers }, () => Buffer.allocUnsafeSlow(size));
    for (let turn = 0; ; turn++) {
      const { bytesRead, buffer } = await file.read(ring[turn % buffers]!, 0, size, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
