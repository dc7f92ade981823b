import { createReadStream } from 'node:fs';
import type { RecordInput } from '#sdk';

const chunkBytes = 256 * 1024;

interface Fetched {
  /** What the file is called on the server. */
  readonly name: string;
  /** Our copy of it. */
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly modified: number | undefined;
  readonly signal: AbortSignal;
}

/** A file that was brought here whole, as an input. */
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
    // A stream that was aborted says so in words of its own.
    signal.throwIfAborted();
    throw error;
  }
}
