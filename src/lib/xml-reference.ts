import { isXmlCharacter } from './xml-character.ts';

/** The bytes end before it is known what stands there. */
export const cut = -1;
/** What stands there is no reference that XML itself knows. */
export const noReference = -2;

/** `&#x10FFFF;` */
const longest = 10;
const semicolon = 0x3b;
const named: Readonly<Record<string, number>> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27 };
const [amp, quot, apos, lt, gt] = ['amp;', 'quot', 'apos', 'lt;\0', 'gt;\0'].map((text) =>
  Buffer.from(text).readInt32LE(),
);

/**
 * The offset behind the reference whose `&` is at `start`: one of the five entities that need no declaration, or a
 * character by its number (XML 1.0, sections 4.1 and 4.6); {@link cut} or {@link noReference} where there is none.
 * A number of more digits than the highest character has counts as none.
 */
export function referenceEnd(bytes: Buffer, start: number): number {
  const at = start + 1;
  // Nearly all references are named: four bytes at a time tell which, without a string.
  const four = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  if (four === amp) return at + 4;
  const three = four & 0xffffff;
  if (three === lt || three === gt) return at + 3;
  if ((four === quot || four === apos) && bytes[at + 4] === semicolon) return at + 5;
  return otherEnd(bytes, start);
}

function otherEnd(bytes: Buffer, start: number): number {
  const last = Math.min(start + longest, bytes.length);
  let end = start + 1;
  while (end < last && bytes[end] !== semicolon) end++;
  if (end === bytes.length) return cut;
  return end < last && referredCharacter(bytes, start, end) !== undefined ? end + 1 : noReference;
}

/** The code point of the reference from its `&` at `start` to its `;` at `end`; undefined if it is not a valid reference. */
export function referredCharacter(bytes: Buffer, start: number, end: number): number | undefined {
  const text = bytes.toString('latin1', start + 1, end);
  const [, hex, digits] = /^#(?:x([\da-fA-F]+)|(\d+))$/.exec(text) ?? [];
  if (hex === undefined && digits === undefined) return Object.hasOwn(named, text) ? named[text] : undefined;
  const point = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
  return isXmlCharacter(point) ? point : undefined;
}
