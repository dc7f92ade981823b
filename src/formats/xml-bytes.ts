/** Classes of bytes. What has none, a control character, ends whatever is being read. */
export const ordinary = 1;
export const lineFeed = 2;
export const carriageReturn = 3;
/** Begins U+FFFE and U+FFFF, which XML does not allow, and others that it does. */
export const doubtful = 4;
const mark = 5;

/** The classes of bytes where the bytes of `marks` have a meaning. */
function classesWith(marks: string): Uint8Array {
  const table = new Uint8Array(256).fill(ordinary, 0x20);
  table[0x09] = ordinary;
  table[0x0a] = lineFeed;
  table[0x0d] = carriageReturn;
  table[0xef] = doubtful;
  for (const byte of Buffer.from(marks)) table[byte] = mark;
  return table;
}

export const inText = classesWith('<&]');
export const inSpace = new Uint8Array(256);
inSpace.set(inText.subarray(0, 0x20));
inSpace[0x20] = ordinary;
export const inComment = classesWith('-');
export const inCdata = classesWith(']');
export const inInstruction = classesWith('?');
export const inDoubleQuotes = classesWith('"<&');
export const inSingleQuotes = classesWith("'<&");
