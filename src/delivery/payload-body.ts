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
export function payloadBody(path: string): Readable {
  return Readable.from(piecesOf(path), { objectMode: false, highWaterMark: pieceBytes });
}

async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    const ring = Array.from({ length: buffers }, () => Buffer.allocUnsafeSlow(pieceBytes));
    for (let turn = 0; ; turn++) {
      const { bytesRead, buffer } = await file.read(ring[turn % buffers]!, 0, pieceBytes, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
