import { equal, first, topBits } from '../lib/four-bytes.ts';
import { isName } from './xml-names.ts';

/** Instead of an offset: the bytes end too early, or they are not surely right. */
export const unsure = -1;

const startOfAscii = 1;
const restOfAscii = 2;
const notAscii = 4;

/** What a byte is in a name; 0 for what ends it. */
const inName = new Uint8Array(256).fill(notAscii, 0x80);
for (const byte of Buffer.from(':_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')) inName[byte] = startOfAscii;
for (const byte of Buffer.from('-.0123456789')) inName[byte] = restOfAscii;

/** Top bits where a byte ends a run; with 0x06 in each turned over, `&` is the next above the control characters. */
export function endsRunIn(four: number): number {
  const turned = four ^ 0x06060606;
  const found = ((turned - 0x21212121) & ~turned) | equal(four, 0x3c3c3c3c) | equal(four, 0x5d5d5d5d);
  return ((four & topBits) === 0 ? found : found | equal(four, 0xefefefef)) & topBits;
}

/**
 * The first byte from here that may mean something in text or be wrong there: markup, a closing bracket, a control
 * character, the beginning of U+FFFE; or else, behind the last whole four, anything. `view` shows the same bytes.
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

/** Where the name that begins here ends, if it is one and another byte follows. */
export function endOfName(bytes: Buffer, start: number): number {
  const { length } = bytes;
  if (start >= length || inName[bytes[start]!] === restOfAscii) return unsure;
  let at = start;
  let seen = 0;
  for (let kind = 0; at < length; at++) {
    kind = inName[bytes[at]!]!;
    if (kind === 0) break;
    seen |= kind;
  }
  if (at === start || at === length) return unsure;
  return seen < notAscii || isName(bytes.toString('utf8', start, at)) ? at : unsure;
}
