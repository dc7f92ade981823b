const quote = 34;
const backslash = 92;

/**
 * Resolves the escapes of a JSON string in place; returns the new end. An escape is never shorter than its UTF-8 form.
 * `onLone` is called for each lone surrogate, which becomes U+FFFD.
 */
export function unescapeInPlace(
  bytes: Buffer,
  [start, end]: readonly [number, number],
  onLone: (codePoint: number) => void,
): number {
  let to = start;
  for (let from = start; from < end; ) {
    const byte = bytes[from]!;
    if (byte !== backslash) {
      bytes[to++] = byte;
      from++;
    } else if (bytes[from + 1] !== 117) {
      bytes[to++] = plainEscapes[bytes[from + 1]!]!;
      from += 2;
    } else {
      const [point, taken] = codePoint(bytes, from, end);
      if (point >= 0xd800 && point <= 0xdfff) onLone(point);
      to += bytes.write(String.fromCodePoint(point), to, 'utf8');
      from += taken;
    }
  }
  return to;
}

const plainEscapes = new Uint8Array(128);
for (const [letter, byte] of Object.entries({ '"': 34, '\\': 92, '/': 47, b: 8, f: 12, n: 10, r: 13, t: 9 })) {
  plainEscapes[letter.charCodeAt(0)] = byte;
}

/** The code point, or lone surrogate, of the `\u` escape at `from`, and the escape's length in bytes. */
function codePoint(bytes: Buffer, from: number, end: number): [number, number] {
  const unit = hex(bytes, from + 2);
  if (unit < 0xd800 || unit > 0xdfff) return [unit, 6];
  const paired = unit < 0xdc00 && from + 12 <= end && bytes[from + 6] === backslash && bytes[from + 7] === 117;
  const low = paired ? hex(bytes, from + 8) : 0;
  if (low < 0xdc00 || low > 0xdfff) return [unit, 6];
  return [0x10000 + (unit - 0xd800) * 0x400 + (low - 0xdc00), 12];
}

function hex(bytes: Buffer, at: number): number {
  return Number.parseInt(bytes.toString('latin1', at, at + 4), 16);
}

/** Removes white space between the tokens of a JSON value in place; returns the new end. */
export function compactInPlace(bytes: Buffer, start: number, end: number): number {
  let to = start;
  let inString = false;
  for (let from = start; from < end; from++) {
    const byte = bytes[from]!;
    if (inString && byte === backslash) {
      bytes[to++] = byte;
      bytes[to++] = bytes[++from]!;
      continue;
    }
    if (byte === quote) inString = !inString;
    if (inString || byte > 32) bytes[to++] = byte;
  }
  return to;
}
