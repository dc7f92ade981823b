import { isUtf8 } from 'node:buffer';
import { late } from '../../lib/late.ts';
import { Problem } from '../../lib/problem.ts';
import { faultIn, type RecordInput } from './input.ts';
import { openUnzipped } from './unzip.ts';

const iconv = late<typeof import('iconv-lite')>(import.meta.url, 'iconv-lite');

/** Enough for a byte-order mark and for the declaration of an XML document. */
const headBytes = 256;

/**
 * The text of an input as UTF-8 bytes without a byte-order mark; a chunk never ends inside a character. A mark decides
 * over the option, because a file that begins with one says what it is. Without either, UTF-8 is taken, and checked. A function
 * as encoding looks at the first bytes itself.
 */
export async function* openUtf8(
  input: RecordInput,
  encoding?: string | ((head: Buffer) => string | undefined),
): AsyncGenerator<Buffer> {
  const chunks = openUnzipped(input);
  try {
    const head: Uint8Array[] = [];
    for (let size = 0; size < headBytes; size += head.at(-1)!.length) {
      const next = await chunks.next();
      if (next.done) break;
      head.push(next.value);
    }
    const first = Buffer.concat(head);
    const mark = markOf(first);
    const rest = prefixed(first.subarray(mark?.bytes ?? 0), chunks);
    const name = mark?.encoding ?? (typeof encoding === 'function' ? encoding(first) : encoding) ?? 'utf-8';
    yield* isUtf8Name(name) ? checked(input, rest) : recoded(input, rest, name);
  } finally {
    await chunks.return(undefined);
  }
}

/** Whether an encoding of that name can be read. */
export function isKnownEncoding(name: string): boolean {
  return isUtf8Name(name) || whatwgDecoder(name) !== undefined || iconv().encodingExists(name);
}

function isUtf8Name(name: string): boolean {
  return /^utf-?8$/i.test(name);
}

function markOf(bytes: Buffer): { encoding: string; bytes: number } | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: 'utf-8', bytes: 3 };
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf-16le', bytes: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf-16be', bytes: 2 };
  return undefined;
}

async function* prefixed(first: Buffer, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  yield* rest;
}

async function* checked(input: RecordInput, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let tail: Uint8Array = Buffer.alloc(0);
  let before = 0;
  for await (const chunk of chunks) {
    const bytes = asBuffer(tail.length === 0 ? chunk : Buffer.concat([tail, chunk]));
    const end = completeEnd(bytes);
    const whole = bytes.subarray(0, end);
    if (!isUtf8(whole)) throw notUtf8(input, whole, before);
    // Copied, because the producer may use the memory of its chunk again.
    tail = Buffer.from(bytes.subarray(end));
    before += end;
    if (end > 0) yield whole;
  }
  if (tail.length > 0) throw notUtf8(input, asBuffer(tail), before);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Where the last complete character ends: at most three bytes are held back for the next chunk. */
function completeEnd(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return lengthOfCharacter(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function lengthOfCharacter(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

function notUtf8(input: RecordInput, bytes: Buffer, before: number): Problem {
  let good = 0;
  for (let step = bytes.length; step >= 1; step = Math.floor(step / 2)) {
    while (good + step <= bytes.length && isUtf8(bytes.subarray(0, completeEnd(bytes.subarray(0, good + step))))) {
      good += step;
    }
  }
  const bad = completeEnd(bytes.subarray(0, good));
  return faultIn(input, {
    code: 'RECORDS_ENCODING',
    message: `byte ${before + bad + 1} is not UTF-8`,
    seen: `0x${bytes.subarray(bad, bad + 4).toString('hex')}`,
    next: 'name the encoding of the data, for example `encoding: windows-1252`',
  });
}

function whatwgDecoder(name: string): TextDecoder | undefined {
  try {
    return new TextDecoder(name, { fatal: true });
  } catch {
    return undefined;
  }
}

async function* recoded(input: RecordInput, chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Buffer> {
  const decode = decoderOf(input, name);
  for await (const chunk of chunks) {
    const text = decode(chunk);
    if (text !== '') yield Buffer.from(text, 'utf8');
  }
  const last = decode(undefined);
  if (last !== '') yield Buffer.from(last, 'utf8');
}

type Decode = (chunk: Uint8Array | undefined) => string;

/** TextDecoder where it knows the name, because it refuses what it cannot read; iconv-lite for the code pages it lacks. */
function decoderOf(input: RecordInput, name: string): Decode {
  const standard = whatwgDecoder(name);
  if (standard !== undefined) return (chunk) => decodeStrictly({ input, name, standard, chunk });
  if (!iconv().encodingExists(name)) throw unknownEncoding(name);
  const decoder = iconv().getDecoder(name);
  // A character may be split over two chunks as two halves of a surrogate pair: the first half waits.
  let half = '';
  return (chunk) => {
    const text = half + (chunk === undefined ? (decoder.end() ?? '') : decoder.write(asBuffer(chunk)));
    half = chunk !== undefined && /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : '';
    return half === '' ? text : text.slice(0, -1);
  };
}

interface Piece {
  readonly input: RecordInput;
  readonly name: string;
  readonly standard: TextDecoder;
  readonly chunk: Uint8Array | undefined;
}

function decodeStrictly({ input, name, standard, chunk }: Piece): string {
  try {
    return chunk === undefined ? standard.decode() : standard.decode(chunk, { stream: true });
  } catch {
    throw faultIn(input, {
      code: 'RECORDS_ENCODING',
      message: `the data is not ${name}`,
      next: 'name the encoding that the data was written in',
    });
  }
}

/** The problem of a job that names an encoding nobody here knows. */
function unknownEncoding(name: string): Problem {
  return new Problem({
    code: 'RECORDS_ENCODING_NAME',
    family: 'config',
    message: 'no encoding has this name',
    seen: name,
    allowed: 'utf-8, utf-16le, utf-16be, windows-1252, iso-8859-1, shift_jis, gb18030, cp437, cp850 and others',
  });
}
