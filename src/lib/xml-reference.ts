/** The text ends before the reference is complete. */
export const cut = -1;
/** The text isn't a reference that XML itself defines. */
export const noReference = -2;

/** `&#x10FFFF;` */
const maxBytes = 10;
const semicolon = 0x3b;
const named: Readonly<Record<string, number>> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27 };
const [amp, quot, apos, lt, gt] = ['amp;', 'quot', 'apos', 'lt;\0', 'gt;\0'].map((text) =>
  Buffer.from(text).readInt32LE(),
);

/**
 * The position after the reference whose `&` is at `start`: one of the five predefined entities, or a character
 * reference (XML 1.0, sections 4.1 and 4.6). Otherwise, {@link cut} or {@link noReference}. A number with more digits
 * than the highest code point isn't a reference.
 */
export function referenceEnd(bytes: Buffer, start: number): number {
  const at = start + 1;
  // Nearly all references are named entities: comparing four bytes at once identifies them without creating a string.
  const four = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  if (four === amp) return at + 4;
  const three = four & 0xffffff;
  if (three === lt || three === gt) return at + 3;
  if ((four === quot || four === apos) && bytes[at + 4] === semicolon) return at + 5;
  return otherEnd(bytes, start);
}

function otherEnd(bytes: Buffer, start: number): number {
  const last = Math.min(start + maxBytes, bytes.length);
  let end = start + 1;
  while (end < last && bytes[end] !== semicolon) end++;
  if (end === bytes.length) return cut;
  return end < last && referredCharacter(bytes, start, end) !== undefined ? end + 1 : noReference;
}

/**
 * The code point of the reference from its `&` at `start` to its `;` at `end`; undefined if it is not a valid
 * reference.
 */
export function referredCharacter(bytes: Buffer, start: number, end: number): number | undefined {
  if (bytes[start + 1] !== 0x23) {
    const name = bytes.toString('latin1', start + 1, end);
    return Object.hasOwn(named, name) ? named[name] : undefined;
  }
  const isHex = bytes[start + 2] === 0x78;
  const first = isHex ? start + 3 : start + 2;
  const base = isHex ? 16 : 10;
  let point = 0;
  for (let at = first; at < end; at++) {
    const digit = digitOf(bytes[at]!);
    if (digit >= base) return undefined;
    point = Math.min(point * base + digit, 0x110000);
  }
  return end > first && isXmlCharacter(point) ? point : undefined;
}

/** The value of a decimal or hexadecimal digit; for any other byte, a number higher than every digit's value. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : 16;
}

/** Whether XML 1.0 allows the code point in a document (Char, section 2.2). */
function isXmlCharacter(point: number): boolean {
  if (point < 0x20) return point === 0x09 || point === 0x0a || point === 0x0d;
  return point < 0xd800 || (point > 0xdfff && point < 0xfffe) || (point > 0xffff && point <= 0x10ffff);
}
