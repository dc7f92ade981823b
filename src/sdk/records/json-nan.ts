/** What Python's `json.dumps`, pandas and JavaScript libraries write for numbers that JSON doesn't have. */
const words = ['NaN', 'Infinity', '-Infinity'].map((word) => Buffer.from(word));
const maxWordBytes = 9;
const null_ = Buffer.from('null');

const quote = 34;
const minus = 45;
const backslash = 92;
const capitalI = 73;
const capitalN = 78;

/** The JSON text with `null` in place of NaN and the infinities, wherever they aren't part of a string. */
export async function* nanAsNull(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  let isInString = false;
  for await (const chunk of chunks) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const done = replace(bytes, false);
    if (done.text.length > 0) yield done.text;
    // Copied, because the producer may reuse the chunk's memory.
    held = Buffer.from(bytes.subarray(done.end));
  }
  if (held.length > 0) yield replace(held, true).text;

  /** Replaces the words up to `end`. Later bytes may be the start of a word or of an escape. */
  function replace(bytes: Buffer, isLast: boolean): { readonly text: Buffer; readonly end: number } {
    const parts: Buffer[] = [];
    let from = 0;
    let i = 0;
    for (; i < bytes.length; i++) {
      const byte = bytes[i];
      if (byte === quote) isInString = !isInString;
      else if (isInString && byte === backslash) {
        if (i + 1 >= bytes.length) break;
        i++;
      } else if (!isInString && (byte === capitalN || byte === capitalI || byte === minus)) {
        if (!isLast && bytes.length - i < maxWordBytes) break;
        const word = words.find((one) => one.compare(bytes, i, Math.min(bytes.length, i + one.length)) === 0);
        if (word === undefined) continue;
        parts.push(bytes.subarray(from, i), null_);
        from = i + word.length;
        i = from - 1;
      }
    }
    const end = isLast ? bytes.length : i;
    parts.push(bytes.subarray(from, end));
    return { text: parts.length === 1 ? parts[0]! : Buffer.concat(parts), end };
  }
}
