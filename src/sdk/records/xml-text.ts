import { referredCharacter } from '../../lib/xml-reference.ts';

const cdataBeginBytes = 9;

/**
 * Replaces references with their characters, CDATA sections with their content, and line ends with line feeds (XML 1.0,
 * 2.11), in place; returns the new end.
 */
export function resolveInPlace(bytes: Buffer, start: number, end: number): number {
  let to = start;
  let cdataEnd = -1;
  for (let from = start; from < end; ) {
    const byte = bytes[from]!;
    if (from === cdataEnd) {
      cdataEnd = -1;
      from += 3;
    } else if (byte === 13) {
      if (bytes[++from] !== 10) bytes[to++] = 10;
    } else if (byte === 38 && cdataEnd < 0) {
      const semicolon = bytes.indexOf(59, from);
      const point = referredCharacter(bytes, from, semicolon)!;
      if (point < 0x80) bytes[to++] = point;
      else to += bytes.write(String.fromCodePoint(point), to, 'utf8');
      from = semicolon + 1;
    } else if (byte === 60 && cdataEnd < 0) {
      from += cdataBeginBytes;
      cdataEnd = bytes.indexOf(']]>', from, 'latin1');
    } else {
      bytes[to++] = byte;
      from++;
    }
  }
  return to;
}

/** The position of the first byte that isn't white space. */
export function inkAt(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at]! <= 0x20) at++;
  return at;
}

/** The encoding in an XML declaration (XML 1.0, 4.3.3). UTF-16 can only be detected by its byte-order mark. */
export function declaredEncoding(head: Buffer): string | undefined {
  const name = /^<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.-]*)["']/.exec(head.toString('latin1'))?.[1];
  return name === undefined || /^(?:utf-?16|ucs|iso-10646-ucs)/i.test(name) ? undefined : name;
}
