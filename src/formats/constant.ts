/** Constant bytes, kept also as little-endian words: four bytes at a time are three times as fast as one. */
export interface Constant {
  readonly bytes: Buffer;
  readonly length: number;
  /** The bytes in words, the last one padded. */
  readonly words: Int32Array;
}

/** The UTF-8 of a text as a constant. */
export function constant(text: string): Constant {
  const bytes = Buffer.from(text, 'utf8');
  const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
  bytes.copy(padded);
  const words = Int32Array.from({ length: padded.length / 4 }, (_, k) => padded.readInt32LE(4 * k));
  return { bytes, length: bytes.length, words };
}

/** Writes a constant at `position` and returns where it ends; up to three bytes behind it are spoilt. */
export function put(to: DataView, position: number, { words, length }: Constant): number {
  for (let k = 0; k < words.length; k++) to.setInt32(position + 4 * k, words[k]!, true);
  return position + length;
}
