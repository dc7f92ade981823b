import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import { wholeEnd } from '../../lib/utf8.ts';
import { decodeText, markOf, wideEncodingOf } from './encoding.ts';
import type { RecordInput } from './input.ts';
import { compressionHeadBytes, compressionOf, openUnzipped } from './unzip.ts';

/** Number of bytes that discovery reads at each end of a file. */
const sampleBytes = 64 * 1024;

/** The two ends of a file, as text. */
export interface TextSample {
  readonly head: string;
  /** The end of the file, from the start of a line; absent if it wasn't read, or if the head is the whole file. */
  readonly tail?: string;
  readonly isWhole: boolean;
  /** Whether the text starts with a byte-order mark. */
  readonly isMarked: boolean;
  /** The name of the compression, if the file is compressed. */
  readonly compression?: string | undefined;
  /** The value to set for the `encoding` option; absent for UTF-8, or if there is a byte-order mark. */
  readonly encoding?: string;
  /** Whether the encoding is a guess, because no byte identifies it. */
  readonly isGuess: boolean;
}

/**
 * Reads the first and the last 64 kB. Skips the end of compressed and remote files, because reaching it would require
 * reading the whole file.
 */
export async function sampleOf(input: RecordInput): Promise<TextSample> {
  const { bytes, isWhole, compression } = await headOf(input);
  const end = isWhole || compression !== undefined || input.local === undefined ? undefined : await tailOf(input.local);
  const mark = markOf(bytes);
  const found = mark?.encoding ?? unmarked(bytes, end);
  const tail = end === undefined ? undefined : decodeText(end, found).replace(/^[^\n]*\n/, '');
  return {
    head: decodeText(bytes.subarray(mark?.bytes ?? 0), found),
    ...(tail === undefined ? {} : { tail }),
    isWhole,
    isMarked: mark !== undefined,
    compression,
    ...(mark !== undefined || found === 'utf-8' ? {} : { encoding: found }),
    isGuess: mark === undefined && /^(?:windows|cp)/.test(found),
  };
}

interface Head {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  readonly compression: string | undefined;
}

async function headOf(input: RecordInput): Promise<Head> {
  const parts: Uint8Array[] = [];
  let size = 0;
  let signature = Buffer.alloc(0);
  async function* watched() {
    for await (const chunk of input.open()) {
      signature = Buffer.concat([signature, chunk.subarray(0, compressionHeadBytes - signature.length)]);
      yield chunk;
    }
  }
  for await (const chunk of openUnzipped({ ...input, open: watched })) {
    parts.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > sampleBytes) break;
  }
  const compression = compressionOf(signature)?.name;
  return { bytes: Buffer.concat(parts).subarray(0, sampleBytes), isWhole: size <= sampleBytes, compression };
}

async function tailOf(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    // An even position, for UTF-16.
    const at = Math.max(0, Math.floor((size - sampleBytes) / 4) * 4);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - at), 0, size - at, at);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function unmarked(head: Buffer, tail: Buffer | undefined): string {
  const wide = wideEncodingOf(head);
  if (wide !== undefined) return wide;
  const start = tail === undefined ? 0 : tail.findIndex((byte) => byte < 0x80);
  const parts = [head.subarray(0, wholeEnd(head)), ...(tail === undefined ? [] : [tail.subarray(start)])];
  if (parts.every((part) => isUtf8(part))) return 'utf-8';
  const high = parts.flatMap((part) => [...part.filter((byte) => byte >= 0x80)]);
  // Accented letters are at 0xC0 and above in windows-1252, but below 0xA6 in DOS code pages.
  const letters = high.filter((byte) => byte >= 0xc0).length;
  const dos = high.filter((byte) => byte <= 0xa5).length;
  return dos > letters ? 'cp850' : 'windows-1252';
}
