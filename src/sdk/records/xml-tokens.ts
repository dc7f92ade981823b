import { equal, first, topBits } from '../../lib/four-bytes.ts';
import { isName } from '../../lib/xml-name.ts';
import { cut, noReference } from '../../lib/xml-reference.ts';

/** The bytes end too early. */
export { cut };
/** Returned if the scanner isn't certain that the bytes are valid, so that the strict parser must read them. */
export const doubt = noReference;

/** Byte classes. A byte without a class, such as a control character, ends the current token. */
export const ordinary = 1;
export const tab = 2;
export const lineFeed = 3;
export const carriageReturn = 4;
/** The first byte of U+FFFE and U+FFFF, which XML doesn't allow, but also of some characters that XML allows. */
export const doubtful = 5;
const mark = 6;

/** The byte classes in a context where the bytes in `marks` have a special meaning. */
function classesWith(marks: string): Uint8Array {
  const table = new Uint8Array(256).fill(ordinary, 0x20);
  table[0x09] = tab;
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

const startOfAscii = 1;
const restOfAscii = 2;
const notAscii = 4;

/** The role of a byte in a name; 0 if it ends the name. */
export const inName = new Uint8Array(256).fill(notAscii, 0x80);
for (const byte of Buffer.from(':_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')) inName[byte] = startOfAscii;
for (const byte of Buffer.from('-.0123456789')) inName[byte] = restOfAscii;

/**
 * Sets the top bit of each byte that ends a run (SWAR). Flipping 0x06 in each byte places `&` right after the control
 * characters.
 */
export function endsRunIn(four: number): number {
  const turned = four ^ 0x06060606;
  const found = ((turned - 0x21212121) & ~turned) | equal(four, 0x3c3c3c3c) | equal(four, 0x5d5d5d5d);
  return ((four & topBits) === 0 ? found : found | equal(four, 0xefefefef)) & topBits;
}

/**
 * The position of the next byte that may have a special meaning in text or be invalid there: markup, a closing bracket,
 * a control character, or the first byte of U+FFFE. After the last complete group of four, the position may be that of
 * any byte. `view` is a view of the same bytes.
 */
export function endOfRun(bytes: Buffer, view: DataView, start: number): number {
  let at = start;
  for (const last = bytes.length - 4; at <= last; at += 4) {
    const four = view.getInt32(at, true);
    const found = endsRunIn(four);
    if (found !== 0) return at + first(found);
  }
  return at;
}

/** Names longer than this are left to the parser, which limits their length. */
const maxNameBytes = 64 * 1024;

/**
 * The end of the name that starts here, if it's valid and another byte follows; otherwise {@link cut} or {@link doubt}.
 */
export function endOfName(bytes: Buffer, start: number): number {
  const { length } = bytes;
  let at = start;
  let seen = 0;
  for (let kind = 0; at < length; at++) {
    kind = inName[bytes[at]!]!;
    if (kind === 0) break;
    seen |= kind;
  }
  if (at === length) return cut;
  if (at === start || at - start > maxNameBytes || inName[bytes[start]!] === restOfAscii) return doubt;
  return seen < notAscii || isName(bytes.toString('utf8', start, at)) ? at : doubt;
}
