import { createReadStream } from 'node:fs';

interface Ask {
  readonly signal: AbortSignal;
  /** First and last byte (inclusive); default: all. */
  readonly start?: number;
  readonly end?: number;
}

const chunkBytes = 256 * 1024;

/** The bytes of a file that we wrote. Throws the signal's reason if the run is aborted meanwhile. */
export async function* storedBytes(path: string, { signal, ...range }: Ask): AsyncGenerator<Buffer> {
  signal.throwIfAborted();
  try {
    yield* createReadStream(path, { ...range, highWaterMark: chunkBytes, signal }) as AsyncIterable<Buffer>;
  } catch (error) {
    // An aborted stream throws its own error; throw the signal's reason instead.
    signal.throwIfAborted();
    throw error;
  }
}
