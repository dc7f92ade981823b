import { cut, noReference, referredCharacter } from '../../lib/xml-reference.ts';

/** Bytes of text that need no second look. */
export const isPlain = new Uint8Array(256).fill(1, 0x20);
for (const byte of Buffer.from('<&]\xef', 'latin1')) isPlain[byte] = 0;
isPlain[9] = 1;

/** 2 where a name may begin, 1 where it may only go on. Names with points are left out: a path could be read in two ways. */
export const inName = new Uint8Array(256);
for (const byte of Buffer.from('0123456789-')) inName[byte] = 1;
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_:')) inName[byte] = 2;

const cdataBegin = Buffer.from('<![CDATA[');

/** The bytes end before the record does. */
export { cut };
/** Nothing is known but that this is for the parser to read. */
export const doubt = noReference;

/** Behind `<![CDATA[` at `at`; {@link cut} when the bytes end before, {@link doubt} when something else stands there. */
export function cdataStart(bytes: Buffer, at: number): number {
  for (let i = 0; i < cdataBegin.length; i++) {
    if (at + i >= bytes.length) return cut;
    if (bytes[at + i] !== cdataBegin[i]) return doubt;
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
      to += bytes.write(String.fromCodePoint(referredCharacter(bytes, from, semicolon)!), to, 'utf8');
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

/** The encoding that an XML declaration names (XML 1.0, 4.3.3). UTF-16 can only be told by its byte-order mark. */
export function declaredEncoding(head: Buffer): string | undefined {
  const name = /^<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.-]*)["']/.exec(head.toString('latin1'))?.[1];
  return name === undefined || /^(?:utf-?16|ucs|iso-10646-ucs)/i.test(name) ? undefined : name;
}
