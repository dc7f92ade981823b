import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { httpProblem } from './problems.ts';
import { ZstdFrames } from './zstd-frames.ts';

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => new ZstdFrames(),
};

/** Decodes a body's Content-Encoding (RFC 9110, 8.4), because undici returns the raw bytes. */
export function unpacked(body: Readable, header: string | string[] | undefined): Readable {
  const encodings = [header ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  return encodings.reduceRight((packed, name) => unpackOne(packed, name), body);
}

function unpackOne(packed: Readable, name: string): Readable {
  const create = Object.hasOwn(unpackers, name) ? unpackers[name] : undefined;
  if (create === undefined) {
    packed.destroy();
    throw httpProblem('REST_ENCODING', 'job', 'unsupported content encoding', { seen: name });
  }
  const unpack = create();
  pipeline(packed, unpack, () => undefined);
  // The reader gets errors from the iterator. But `pipeline` removes its error listener when it ends, and an `error`
  // event without a listener would crash the process.
  unpack.on('error', () => undefined);
  return unpack;
}
