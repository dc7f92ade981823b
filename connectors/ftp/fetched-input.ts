import { createReadStream } from 'node:fs';
import type { RecordInput } from '#sdk';

const chunkBytes = 256 * 1024;

interface Fetched {
  /** Name of the file on the server. */
  readonly name: string;
  /** Path of the local copy. */
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly modified: number | undefined;
  readonly signal: AbortSignal;
}

/** A completely downloaded file as an input. */
export function fetchedInput({ name, path, modified, signal }: Fetched): RecordInput {
  return {
    name,
    local: path,
    modified: modified === undefined ? undefined : new Date(modified),
    open: () => read(path, signal),
  };
}

async function* read(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted();
  try {
    yield* createReadStream(path, { highWaterMark: chunkBytes, signal }) as AsyncIterable<Buffer>;
  } catch (error) {
    // If the stream was aborted, throw the signal's reason instead.
    signal.throwIfAborted();
    throw error;
  }
}
