import { createReadStream } from 'node:fs';

interface Ask {
  readonly signal?: AbortSignal;
  /** First and last byte, both inclusive; default: the whole file. */
  readonly start?: number;
  readonly end?: number;
}

const chunkBytes = 256 * 1024;

/** The bytes of a file that Sluice wrote. If the run is aborted during the read, throws the signal's reason. */
export async function* storedBytes(path: string, { signal, ...range }: Ask = {}): AsyncGenerator<Buffer> {
  signal?.throwIfAborted();
  try {
    yield* createReadStream(path, {
      ...range,
      highWaterMark: chunkBytes,
      ...(signal && { signal }),
    }) as AsyncIterable<Buffer>;
  } catch (error) {
    // An aborted stream throws its own error, so this throws the signal's reason instead.
    signal?.throwIfAborted();
    throw error;
  }
}
