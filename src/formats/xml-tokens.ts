import { isName } from './xml-names.ts';

/** Instead of an offset: the bytes end too early, or they are not surely right. */
export const unsure = -1;

const startOfAscii = 1;
const restOfAscii = 2;
const notAscii = 4;

/** What a byte is in a name; 0 for what ends it. */
const inName = new Uint8Array(256).fill(notAscii, 0x80);
for (const byte of Buffer.from(':_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')) inName[byte] = startOfAscii;
for (const byte of Buffer.from('-.0123456789')) inName[byte] = restOfAscii;

/** Where the name that begins here ends, if it is one and another byte follows. */
export function endOfName(bytes: Buffer, start: number): number {
  const { length } = bytes;
  if (start >= length || inName[bytes[start]!] === restOfAscii) return unsure;
  let at = start;
  let seen = 0;
  for (let kind = 0; at < length; at++) {
    kind = inName[bytes[at]!]!;
    if (kind === 0) break;
    seen |= kind;
  }
  if (at === start || at === length) return unsure;
  return seen < notAscii || isName(bytes.toString('utf8', start, at)) ? at : unsure;
}

const named = ['amp;', 'lt;', 'gt;', 'quot;', 'apos;'].map((text) => Buffer.from(text));
const numbered = /^#(?:([0-9]{1,7})|x([0-9A-Fa-f]{1,6}));/;

/** Where the reference that begins here ends. There are five entities, and characters by their numbers. */
export function endOfReference(bytes: Buffer, start: number): number {
  const at = start + 1;
  if (bytes[at] !== 0x23) {
    for (const text of named) if (standsAt(bytes, at, text)) return at + text.length;
    return unsure;
  }
  const [text, decimal, hex] = numbered.exec(bytes.toString('latin1', at, at + 9)) ?? [];
  if (text === undefined) return unsure;
  return isCharacter(decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)) ? at + text.length : unsure;
}

function standsAt(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let k = 0; k < text.length; k++) if (bytes[at + k] !== text[k]) return false;
  return true;
}

/** Char of XML 1.0. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code < 0xd800 || (code > 0xdfff && code < 0xfffe) || (code > 0xffff && code <= 0x10ffff);
}
