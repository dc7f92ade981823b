import { isUtf8 } from 'node:buffer';

/**
 * The largest offset up to `wanted` that isn't inside a character; `last` is the end of the text. For invalid UTF-8,
 * returns `wanted`; validating the piece later finds the error.
 */
export function characterEnd(bytes: Uint8Array, start: number, wanted: number, last: number): number {
  if (wanted >= last) return wanted;
  let end = wanted;
  while (end > start && wanted - end < 4 && (bytes[end]! & 0xc0) === 0x80) end--;
  return end === start || wanted - end === 4 ? wanted : end;
}

/** Length in bytes of the character that starts with this byte. */
export function characterLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

/** Number of leading bytes that are complete, valid characters. */
export function validPrefix(bytes: Uint8Array): number {
  let good = 0;
  for (let bad = bytes.length; bad - good > 16; ) {
    const middle = characterEnd(bytes, good, good + ((bad - good) >> 1), bytes.length);
    if (isUtf8(bytes.subarray(good, middle))) good = middle;
    else bad = middle;
  }
  for (;;) {
    const next = good + characterLength(bytes[good] ?? 0);
    if (next > bytes.length || !isUtf8(bytes.subarray(good, next))) return good;
    good = next;
  }
}

/**
 * The end of the last complete character. Bytes that can't become a character count as complete, so that they're
 * rejected immediately.
 */
export function wholeEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte >= 0xc0) return characterLength(byte) > back ? bytes.length - back : bytes.length;
    if (byte < 0x80) return bytes.length;
  }
  return bytes.length;
}
