import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { readSmallFile, smallBytes } from '../lib/small-file.ts';

/** The size of a body's chunks. Larger chunks would use more memory, and smaller ones more time. */
const pieceBytes = 512 * 1024;
/** One buffer is in the socket, one waits in the stream, and one is being filled. */
const buffers = 3;

interface PayloadFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * A payload's file as a request body; small files are read synchronously. The body must end right after its last byte,
 * because a connection whose response arrives before the body's end is closed instead of reused.
 */
export function payloadBody(file: PayloadFile): Buffer | Promise<Buffer> | Readable {
  if (file.bytes <= smallBytes) return smallOf(file);
  if (file.bytes <= pieceBytes) return wholeOf(file);
  return Readable.from(piecesOf(file), { objectMode: false, highWaterMark: pieceBytes });
}

/** Reads a small file synchronously. Throws if its length has changed. */
function smallOf({ path, bytes }: PayloadFile): Buffer {
  const whole = readSmallFile(path, bytes);
  if (whole === undefined) throw new Error(`the payload no longer has ${bytes} bytes`);
  return whole;
}

function wholeIn(room: Buffer, length: number, bytes: number): Buffer {
  if (length !== bytes) throw new Error(`the payload has ${length} bytes or more, not ${bytes}`);
  return room.subarray(0, length);
}

/** Reads a whole file. Throws if its length has changed, because then it isn't the complete payload. */
async function wholeOf({ path, bytes }: PayloadFile): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const room = Buffer.allocUnsafeSlow(bytes + 1);
    let length = 0;
    for (let got = 1; got > 0 && length < room.length; length += got) {
      got = (await file.read(room, length, room.length - length, null)).bytesRead;
    }
    return wholeIn(room, length, bytes);
  } finally {
    await file.close();
  }
}

/**
 * Reuses a few buffers. With a new buffer for each chunk, an upload to a fast service would take twice as long. A
 * consumer must therefore finish with a chunk before it requests the one after the next. A socket does so if the sender
 * waits for `drain`.
 */
async function* piecesOf({ path, bytes }: PayloadFile): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    const ring = Array.from({ length: buffers }, () => Buffer.allocUnsafeSlow(pieceBytes));
    for (let turn = 0, left = bytes; left > 0; turn++) {
      const { bytesRead, buffer } = await file.read(ring[turn % buffers]!, 0, pieceBytes, null);
      if (bytesRead === 0) return;
      left -= bytesRead;
      // Closes the file before yielding the last chunk, so that nothing has to be awaited after it.
      if (left <= 0) await file.close();
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
