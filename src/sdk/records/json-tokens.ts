import { equal, first, topBits } from '../../lib/four-bytes.ts';

/** Returned instead of an offset: the token is incomplete in these bytes, or invalid. */
export const unsure = -1;

/** Bytes that end a run of ordinary bytes in a string: quote, backslash, control characters. */
export const endsRun = new Uint8Array(256).fill(1, 0, 32);
endsRun[0x22] = 1;
endsRun[0x5c] = 1;

export const escapable = new Uint8Array(256);
for (const byte of Buffer.from('"\\/bfnrt')) escapable[byte] = 1;

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;
const isE = (byte: number): boolean => (byte | 0x20) === 0x65;
export const isHex = (byte: number): boolean => isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);

/** Position after a string's closing quote, from a position inside the string. `view` contains the same bytes. */
export function stringEnd(bytes: Buffer, view: DataView, start: number): number {
  let at = start;
  for (;;) {
    at = runEnd(bytes, view, at);
    if (at === bytes.length) return unsure;
    if (bytes[at] === 0x22) return at + 1;
    at = bytes[at] === 0x5c ? escapeEnd(bytes, at) : unsure;
    if (at === unsure) return unsure;
  }
}

/**
 * Sets the top bit of each byte that ends a run (SWAR). Flipping 0x02 in each byte places the quote right after the
 * control characters.
 */
export function endsRunIn(four: number): number {
  const turned = four ^ 0x02020202;
  return (((turned - 0x21212121) & ~turned) | equal(four, 0x5c5c5c5c)) & topBits;
}

/** Position of the first byte from `start` that ends a run. `view` contains the same bytes. */
export function runEnd(bytes: Buffer, view: DataView, start: number): number {
  let at = start;
  for (const last = bytes.length - 4; at <= last; at += 4) {
    const four = view.getInt32(at, true);
    const found = endsRunIn(four);
    if (found !== 0) return at + first(found);
  }
  while (at < bytes.length && endsRun[bytes[at]!] === 0) at++;
  return at;
}

function escapeEnd(bytes: Buffer, at: number): number {
  if (at + 6 > bytes.length) return unsure;
  const byte = bytes[at + 1]!;
  if (escapable[byte] === 1) return at + 2;
  if (byte !== 0x75) return unsure;
  for (let k = at + 2; k < at + 6; k++) if (!isHex(bytes[k]!)) return unsure;
  return at + 6;
}

/** The end of the value that begins here and isn't an array or object. */
export function scalarEnd(bytes: Buffer, view: DataView, start: number): number {
  return bytes[start] === 0x22 ? stringEnd(bytes, view, start + 1) : valueEnd(bytes, view, start);
}

/** The end of the number or word that begins here. */
function valueEnd(bytes: Buffer, view: DataView, start: number): number {
  const byte = bytes[start]!;
  return byte === 0x2d || isDigit(byte) ? numberEnd(bytes, start) : wordEnd(bytes, view, start);
}

/** The end of the number that begins here with a digit or minus; another byte must follow. */
function numberEnd(bytes: Buffer, start: number): number {
  // Repeats the code of wholeEnd(), because calling that function here would prevent it from being inlined elsewhere.
  const first = bytes[start] === 0x2d ? start + 1 : start;
  let at = digitsEnd(bytes, first);
  if (at === first || (bytes[first] === 0x30 && at > first + 1)) return unsure;
  if (bytes[at] === 0x2e) {
    const point = at + 1;
    at = digitsEnd(bytes, point);
    if (at === point) return unsure;
  }
  return at < bytes.length && !isE(bytes[at]!) ? at : exponentEnd(bytes, at);
}

/** The end of the integer part of the number that begins here. */
export function wholeEnd(bytes: Buffer, start: number): number {
  const first = bytes[start] === 0x2d ? start + 1 : start;
  const at = digitsEnd(bytes, first);
  return at === first || (bytes[first] === 0x30 && at > first + 1) ? unsure : at;
}

function exponentEnd(bytes: Buffer, e: number): number {
  const sign = bytes[e + 1];
  const first = sign === 0x2b || sign === 0x2d ? e + 2 : e + 1;
  const at = digitsEnd(bytes, first);
  return at > first && at < bytes.length ? at : unsure;
}

/** The position after the decimal digits that begin here. */
export function digitsEnd(bytes: Buffer, start: number): number {
  const { length } = bytes;
  let at = start;
  while (at < length && isDigit(bytes[at]!)) at++;
  return at;
}

const [nullBytes, trueBytes, falsBytes] = ['null', 'true', 'fals'].map((text) => Buffer.from(text).readInt32LE());

/** The end of the `true`, `false` or `null` that begins here. */
function wordEnd(bytes: Buffer, view: DataView, start: number): number {
  if (start + 5 > bytes.length) return unsure;
  const four = view.getInt32(start, true);
  if (four === nullBytes || four === trueBytes) return start + 4;
  return four === falsBytes && bytes[start + 4] === 0x65 ? start + 5 : unsure;
}
