import { createReadStream } from 'node:fs';

interface Ask {
  readonly signal: AbortSignal;
  /** First and last byte; all of them when absent. */
  readonly start?: number;
  readonly end?: number;
}

const chunkBytes = 256 * 1024;

/** The bytes of a file of our own. A run that is stopped meanwhile ends with the signal's reason. */
export async function* storedBytes(path: string, { signal, ...range }: Ask): AsyncGenerator<Buffer> {
  signal.throwIfAborted();
  try {
    yield* createReadStream(path, { ...range, highWaterMark: chunkBytes, signal }) as AsyncIterable<Buffer>;
  } catch (error) {
    // A stream that was aborted says so in words of its own.
    signal.throwIfAborted();
    throw error;
  }
}
