import { isUtf8 } from 'node:buffer';
import { late } from '../../lib/late.ts';
import { Problem } from '../../lib/problem.ts';
import { excerptOfBytes } from '../../lib/redact.ts';
import { replacementCharacter } from '../../lib/replaced-characters.ts';
import { validPrefix, wholeEnd } from '../../lib/utf8.ts';
import { foreignHeadBytes, refuseForeign } from './foreign.ts';
import { faultIn, type RecordInput } from './input.ts';
import { openUnzipped } from './unzip.ts';

const iconv = late<typeof import('iconv-lite')>(import.meta.url, 'iconv-lite');

interface TextOptions {
  /** The expected format, which the error names if the data has a different format. */
  readonly format: string;
  /** The encoding, or a function that detects it from the first bytes. */
  readonly encoding: string | ((head: Buffer) => string | undefined) | undefined;
}

/**
 * An input's text as UTF-8 bytes without a byte-order mark; a chunk never ends inside a character. A byte-order mark
 * takes precedence over the option, because it identifies the encoding. Without either, UTF-8 is assumed and validated.
 * NUL characters are refused, because they indicate a different encoding, binary data, or a hole left by a crash.
 */
export async function* openUtf8(input: RecordInput, { format, encoding }: TextOptions): AsyncGenerator<Buffer> {
  const chunks = openUnzipped(input);
  try {
    const head: Uint8Array[] = [];
    for (let size = 0; size < foreignHeadBytes; size += head.at(-1)!.length) {
      const next = await chunks.next();
      if (next.done) break;
      head.push(next.value);
    }
    const first = Buffer.concat(head);
    const mark = markOf(first);
    const rest = prefixed(first.subarray(mark?.bytes ?? 0), chunks);
    const name = mark?.encoding ?? (typeof encoding === 'function' ? encoding(first) : encoding) ?? 'utf-8';
    refuseForeign(input, first, format);
    if (mark === undefined) refuseUnmarked(input, first, name);
    yield* isUtf8Name(name) ? checked(input, rest) : recoded(input, rest, name);
  } finally {
    await chunks.return(undefined);
  }
}

/** Whether this encoding is supported. */
export function isKnownEncoding(name: string): boolean {
  return isUtf8Name(name) || whatwgDecoder(name) !== undefined || iconv().encodingExists(name);
}

/** Whether this is a name of UTF-8. */
export function isUtf8Name(name: string): boolean {
  return /^utf-?8$/i.test(name);
}

/** The byte-order mark at the start. */
export function markOf(bytes: Buffer): { encoding: string; bytes: number } | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: 'utf-8', bytes: 3 };
  if (bytes.length >= 4 && bytes.readUInt32LE() === 0xfeff) return { encoding: 'utf-32le', bytes: 4 };
  if (bytes.length >= 4 && bytes.readUInt32BE() === 0xfeff) return { encoding: 'utf-32be', bytes: 4 };
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
    const end = wholeEnd(bytes);
    const whole = bytes.subarray(0, end);
    if (!isUtf8(whole)) throw notUtf8(input, whole, before);
    refuseNul(input, whole, before);
    // Copied, because the producer may reuse the chunk's memory.
    tail = Buffer.from(bytes.subarray(end));
    before += end;
    if (end > 0) yield whole;
  }
  if (tail.length > 0) throw notUtf8(input, asBuffer(tail), before);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function notUtf8(input: RecordInput, bytes: Buffer, before: number): Problem {
  const bad = validPrefix(bytes);
  return faultIn(input, {
    code: 'RECORDS_ENCODING',
    message: `byte ${before + bad + 1} is not valid UTF-8`,
    seen: `0x${bytes.subarray(bad, bad + 4).toString('hex')}`,
    next: 'set the encoding of the data, for example `encoding: windows-1252`',
  });
}

function whatwgDecoder(name: string): TextDecoder | undefined {
  try {
    return new TextDecoder(name, { fatal: true });
  } catch {
    return undefined;
  }
}

/** Decodes one complete text; returns undefined if its bytes aren't valid in the encoding. */
export type StrictDecoder = (bytes: Buffer) => string | undefined;

/** A decoder for the texts of an encoding that {@link isKnownEncoding} accepts. A U+FEFF at the start is kept. */
export function strictDecoder(name: string): StrictDecoder {
  if (isUtf8Name(name)) return (bytes) => (isUtf8(bytes) ? bytes.toString('utf8') : undefined);
  if (whatwgDecoder(name) === undefined) return (bytes) => wellDecoded(iconv().decode(bytes, name));
  const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  };
}

const wellDecoded = (text: string) => (text.includes(replacementCharacter) ? undefined : text);

/** Decodes bytes that may be part of a longer text; invalid bytes become U+FFFD. */
export function decodeText(bytes: Buffer, name: string): string {
  return whatwgDecoder(name) === undefined ? iconv().decode(bytes, name) : new TextDecoder(name).decode(bytes);
}

async function* recoded(input: RecordInput, chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Buffer> {
  const decode = decoderOf(input, name);
  let before = 0;
  const utf8Of = (text: string) => {
    const bytes = Buffer.from(text, 'utf8');
    refuseNul(input, bytes, before);
    before += bytes.length;
    return bytes;
  };
  for await (const chunk of chunks) {
    const text = decode(chunk);
    if (text !== '') yield utf8Of(text);
  }
  const last = decode(undefined);
  if (last !== '') yield utf8Of(last);
}

type Decode = (chunk: Uint8Array | undefined) => string;

/**
 * Prefers TextDecoder, because it rejects invalid input; uses iconv-lite for code pages that TextDecoder doesn't
 * support.
 */
function decoderOf(input: RecordInput, name: string): Decode {
  const standard = whatwgDecoder(name);
  if (standard !== undefined) return (chunk) => decodeStrictly({ input, name, standard, chunk });
  if (!iconv().encodingExists(name)) throw unknownEncoding(name);
  const decoder = iconv().getDecoder(name);
  // A surrogate pair may be split across two chunks, so its first half is held back.
  let half = '';
  return (chunk) => {
    const text = half + (chunk === undefined ? (decoder.end() ?? '') : decoder.write(asBuffer(chunk)));
    if (text.includes(replacementCharacter)) throw wrongEncoding(input, name);
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
    throw wrongEncoding(input, name);
  }
}

function wrongEncoding(input: RecordInput, name: string) {
  return faultIn(input, {
    code: 'RECORDS_ENCODING',
    message: `the data is not ${name}`,
    next: 'set `encoding` to the encoding of the data',
  });
}

/**
 * Refuses UTF-16 and UTF-32 without a byte-order mark if another encoding is expected: ASCII with NULs would be valid
 * UTF-8.
 */
function refuseUnmarked(input: RecordInput, head: Buffer, name: string): void {
  const wide = /^(?:utf|ucs)-?(?:2|16|32)|^unicode/i.test(name) ? undefined : wideEncodingOf(head);
  if (wide === undefined) return;
  throw faultIn(input, {
    code: 'RECORDS_ENCODING',
    message: `the data looks like ${wide.toUpperCase()} without a byte-order mark, not like ${name}`,
    seen: `0x${head.subarray(0, 8).toString('hex')}`,
    next: `set \`encoding: ${wide}\``,
  });
}

/** Detects the encoding by the positions of NULs in the first bytes, because most characters in tables are ASCII. */
export function wideEncodingOf(head: Buffer): string | undefined {
  const characters = Math.floor(head.length / 4);
  const nuls = [0, 0, 0, 0];
  // From one NUL to the next, because almost no page of an API has one.
  for (let at = head.indexOf(0); at >= 0; at = head.indexOf(0, at + 1)) nuls[at % 4]!++;
  const isFull = (k: number) => characters > 0 && nuls[k]! >= characters / 2;
  const isFree = (k: number) => nuls[k] === 0;
  if (isFull(1) && isFull(2) && isFull(3) && isFree(0)) return 'utf-32le';
  if (isFull(0) && isFull(1) && isFull(2) && isFree(3)) return 'utf-32be';
  if (isFull(1) && isFull(3) && isFree(0) && isFree(2)) return 'utf-16le';
  if (isFull(0) && isFull(2) && isFree(1) && isFree(3)) return 'utf-16be';
  return undefined;
}

function refuseNul(input: RecordInput, bytes: Buffer, before: number): void {
  const at = bytes.indexOf(0);
  if (at < 0) return;
  throw faultIn(input, {
    code: 'RECORDS_NUL',
    message: `byte ${before + at + 1} is NUL, which is not allowed in text`,
    seen: excerptOfBytes(bytes, at - 20, at + 20),
    next: 'write the file again (a crash leaves such gaps), or set `encoding` to the encoding of the file',
  });
}

/** The problem for an unknown encoding. */
function unknownEncoding(name: string): Problem {
  return new Problem({
    code: 'RECORDS_ENCODING_NAME',
    family: 'config',
    message: 'unknown encoding',
    seen: name,
    allowed: 'utf-8, utf-16le, utf-16be, windows-1252, iso-8859-1, shift_jis, gb18030, cp437, cp850 and others',
  });
}
