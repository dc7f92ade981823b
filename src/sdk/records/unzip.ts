import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { faultIn, type RecordInput } from './input.ts';

/**
 * The bytes of an input, decompressed if they start with gzip's magic number (RFC 1952), whatever the file's name. No
 * text format starts with these two bytes. Concatenated gzip members are one document.
 */
export async function* openUnzipped(input: RecordInput): AsyncGenerator<Uint8Array> {
  const chunks = input.open()[Symbol.asyncIterator]();
  try {
    const head = await firstBytes(chunks);
    const whole = joined(head, chunks);
    if (isGzip(head)) yield* gunzipped(input, whole);
    else yield* whole;
  } finally {
    await chunks.return?.();
  }
}

/** Whether bytes start with gzip's magic number. */
export function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b;
}

async function firstBytes(chunks: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < 2) {
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

async function* gunzipped(input: RecordInput, packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(packed, { objectMode: true, highWaterMark: 2 });
  const unzip = createGunzip({ chunkSize: 128 * 1024 });
  // The reader below also gets every error. Without a callback, `pipeline` would throw it as an uncaught exception.
  pipeline(source, unzip, () => undefined);
  try {
    yield* unzip as AsyncIterable<Buffer>;
  } catch (error) {
    throw isZlibError(error) ? brokenGzip(input, error) : error;
  } finally {
    source.destroy();
    unzip.destroy();
  }
}

function isZlibError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}

function brokenGzip(input: RecordInput, error: Error) {
  return faultIn(input, {
    code: 'RECORDS_GZIP',
    message: `the gzip data is damaged or truncated (${error.message})`,
    next: 'fetch or write the file again',
  });
}
