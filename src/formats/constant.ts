/**
 * Constant bytes, which are also stored as little-endian words, because writing four bytes at a time is three times as
 * fast.
 */
export interface Constant {
  readonly bytes: Buffer;
  readonly length: number;
  /** The bytes as words; the last word is padded. */
  readonly words: Int32Array;
}

/** A constant with the UTF-8 bytes of a string. */
export function constant(text: string): Constant {
  const bytes = Buffer.from(text, 'utf8');
  const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
  bytes.copy(padded);
  const words = Int32Array.from({ length: padded.length / 4 }, (_, k) => padded.readInt32LE(4 * k));
  return { bytes, length: bytes.length, words };
}

/** Writes a constant at `position` and returns its end. May overwrite up to three bytes after the constant. */
export function put(to: DataView, position: number, { words, length }: Constant): number {
  for (let k = 0; k < words.length; k++) to.setInt32(position + 4 * k, words[k]!, true);
  return position + length;
}
