const lf = 10;
const cr = 13;

/**
 * The text without its last lines. Blank lines don't count. Only these lines are held back, whatever the file's size.
 */
export async function* withoutLastLines(chunks: AsyncIterable<Buffer>, lines: number): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk]);
    const end = startOfLast(held, lines);
    if (end > 0) yield held.subarray(0, end);
    held = held.subarray(end);
  }
}

/** The start of the last `lines` lines that aren't blank; 0 if there are no others. */
function startOfLast(bytes: Buffer, lines: number): number {
  let at = bytes.length;
  for (let line = 0; line < lines; line++) {
    while (at > 0 && isBreak(bytes[at - 1]!)) at--;
    while (at > 0 && !isBreak(bytes[at - 1]!)) at--;
  }
  return at;
}

function isBreak(byte: number): boolean {
  return byte === lf || byte === cr;
}
