import { isXmlCharacter } from '../../lib/xml-character.ts';

/** Bytes of text that need no second look. */
export const isPlain = new Uint8Array(256).fill(1, 0x20);
for (const byte of Buffer.from('<&]\xef', 'latin1')) isPlain[byte] = 0;
isPlain[9] = 1;

/** 2 where a name may begin, 1 where it may only go on. Names with points are left out: a path could be read in two ways. */
export const inName = new Uint8Array(256);
for (const byte of Buffer.from('0123456789-')) inName[byte] = 1;
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_:')) inName[byte] = 2;

const named: Readonly<Record<string, number>> = { amp: 38, lt: 60, gt: 62, quot: 34, apos: 39 };
/** `&#x10FFFF;` */
const longestReference = 10;
const cdataBegin = Buffer.from('<![CDATA[');

/** Behind the reference at `at`; -1 when the bytes end before, -2 when it is none of XML's own (XML 1.0, 4.1 and 4.6). */
export function referenceEnd(bytes: Buffer, at: number): number {
  const last = at + longestReference;
  let end = at + 1;
  while (end < last && bytes[end] !== undefined && bytes[end] !== 59) end++;
  if (end >= bytes.length) return -1;
  return bytes[end] === 59 && pointOf(bytes, at, end) !== undefined ? end + 1 : -2;
}

/** The character that the reference from `at` to its `;` at `end` stands for. */
function pointOf(bytes: Buffer, at: number, end: number): number | undefined {
  const text = bytes.toString('latin1', at + 1, end);
  const [, hex, digits] = /^#(?:x([\da-fA-F]+)|(\d+))$/.exec(text) ?? [];
  if (hex === undefined && digits === undefined) return Object.hasOwn(named, text) ? named[text] : undefined;
  const point = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
  return isXmlCharacter(point) ? point : undefined;
}

/** Behind `<![CDATA[` at `at`; -1 when the bytes end before, -2 when something else stands there. */
export function cdataStart(bytes: Buffer, at: number): number {
  for (let i = 0; i < cdataBegin.length; i++) {
    if (at + i >= bytes.length) return -1;
    if (bytes[at + i] !== cdataBegin[i]) return -2;
  }
  return at + cdataBegin.length;
}

/** Replaces references by their characters and CDATA sections by their content, and drops carriage returns, in place; returns the new end. */
export function resolveInPlace(bytes: Buffer, start: number, end: number): number {
  let to = start;
  for (let from = start; from < end; ) {
    const byte = bytes[from]!;
    if (byte === 38) {
      const semicolon = bytes.indexOf(59, from);
      to += bytes.write(String.fromCodePoint(pointOf(bytes, from, semicolon)!), to, 'utf8');
      from = semicolon + 1;
    } else if (byte === 60) {
      const content = from + cdataBegin.length;
      const close = bytes.indexOf(']]>', content, 'latin1');
      bytes.copyWithin(to, content, close);
      to += close - content;
      from = close + 3;
    } else {
      if (byte !== 13) bytes[to++] = byte;
      from++;
    }
  }
  return to;
}
