import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ZstdFrames } from '../http/zstd-frames.ts';
import { faultIn, type RecordInput } from './input.ts';

interface Compression {
  readonly name: string;
  readonly magic: readonly number[];
  readonly code: string;
  open(): Transform;
}

/** Compressed streams, by their magic numbers (RFC 1952, RFC 8878). No text format starts with one of them. */
const compressions: readonly Compression[] = [
  {
    name: 'gzip',
    magic: [0x1f, 0x8b],
    code: 'RECORDS_GZIP',
    open: () => createGunzip({ chunkSize: 128 * 1024 }),
  },
  { name: 'zstd', magic: [0x28, 0xb5, 0x2f, 0xfd], code: 'RECORDS_ZSTD', open: () => new ZstdFrames() },
];

/** Number of first bytes that identify a compression. */
export const compressionHeadBytes = Math.max(...compressions.map(({ magic }) => magic.length));

/** The extensions of compressed files, for a regular expression. */
export const compressedEnding = '(?:\\.(?:gz|zst))?';

/**
 * The bytes of an input, decompressed if they start with a compression's magic number, whatever the file's name.
 * Concatenated gzip members or zstd frames are one document.
 */
export async function* openUnzipped(input: RecordInput): AsyncGenerator<Uint8Array> {
  const chunks = input.open()[Symbol.asyncIterator]();
  try {
    const head = await firstBytes(chunks);
    const whole = joined(head, chunks);
    const compression = compressionOf(head);
    if (compression === undefined) yield* whole;
    else yield* decompressed(input, whole, compression);
  } finally {
    await chunks.return?.();
  }
}

/** The compression that bytes start with, if any. */
export function compressionOf(head: Uint8Array): Compression | undefined {
  return compressions.find(({ magic }) => magic.every((byte, i) => head[i] === byte));
}

async function firstBytes(chunks: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < compressionHeadBytes) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

async function* joined(head: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* decompressed(
  input: RecordInput,
  packed: AsyncIterable<Uint8Array>,
  compression: Compression,
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(packed, { objectMode: true, highWaterMark: 2 });
  const unzip = compression.open();
  // The reader below also gets every error. Without a callback, `pipeline` would throw it as an uncaught exception.
  pipeline(source, unzip, () => undefined);
  try {
    yield* unzip as AsyncIterable<Buffer>;
  } catch (error) {
    throw isZlibError(error) ? damaged(input, error, compression) : error;
  } finally {
    source.destroy();
    unzip.destroy();
  }
}

function isZlibError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && /^(?:Z_|ZSTD_|ERR_ZSTD)/.test(String(error.code));
}

function damaged(input: RecordInput, error: Error, { name, code }: Compression) {
  return faultIn(input, {
    code,
    message: `the ${name} data is damaged or truncated (${error.message})`,
    next: 'fetch or write the file again',
  });
}
