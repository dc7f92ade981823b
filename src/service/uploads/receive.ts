import { createHash } from 'node:crypto';
import { Problem } from '../../lib/problem.ts';
import { ApiError, badRequest } from '../http/api-error.ts';
import type { FormatId } from '../store/datasources.ts';
import type { Blobs } from './blobs.ts';
import { checkerOf } from './checkers.ts';

/** A complete document that has been validated and synced to disk, but that no instance shows yet. */
export interface ReceivedDocument {
  readonly blob: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface Incoming {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly format: FormatId;
  readonly limitBytes: number;
  /** The announced size, if any. */
  readonly announcedBytes?: number | undefined;
}

/**
 * Receives a streamed document. Counts, hashes, validates and stores the document in one pass and in constant memory.
 * If the document is too large, empty or in the wrong format, throws an ApiError and stores nothing.
 */
export async function receive(blobs: Blobs, incoming: Incoming): Promise<ReceivedDocument> {
  if ((incoming.announcedBytes ?? 0) > incoming.limitBytes) throw tooLarge(incoming.limitBytes);
  const writer = await blobs.begin();
  try {
    const hash = createHash('sha256');
    const checker = checkerOf(incoming.format);
    let bytes = 0;
    for await (const chunk of incoming.chunks) {
      bytes += chunk.length;
      if (bytes > incoming.limitBytes) throw tooLarge(incoming.limitBytes);
      hash.update(chunk);
      checker.write(chunk);
      await writer.write(asBuffer(chunk));
    }
    checker.end();
    return { blob: await writer.finish(), bytes, sha256: hash.digest('hex') };
  } catch (thrown) {
    await writer.abandon();
    throw asApiError(thrown);
  }
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError('data_too_large', `The data is larger than a data source's limit of ${limitBytes} bytes`);
}

/** Converts a checker's error to an ApiError. The error's message contains the format, the problem and its position. */
function asApiError(thrown: unknown): unknown {
  return thrown instanceof Problem && thrown.code === 'FORMAT_INVALID' ? badRequest(thrown.message) : thrown;
}
