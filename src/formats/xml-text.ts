import { referenceEnd } from '../lib/xml-reference.ts';
import { carriageReturn, doubtful, inText, lineFeed, ordinary } from './xml-bytes.ts';
import { endOfRun, unsure } from './xml-tokens.ts';

/** Passes what stands between markup and inside it, and counts lines. */
export class XmlText {
  /** The line, from 1, of the place where it stopped. */
  line = 1;

  /** Where running text ends: at markup, at the end of the bytes, or before what may not stand in text. */
  end(bytes: Buffer, view: DataView, start: number): number {
    const { length } = bytes;
    let at = start;
    for (;;) {
      at = endOfRun(bytes, view, at);
      if (at === length || bytes[at] === 0x3c) return at;
      if (bytes[at] === 0x0a) {
        this.line++;
        at++;
      } else {
        const next = this.#pastInText(bytes, at);
        if (next === at) return at;
        at = next;
      }
    }
  }

  /** Behind a byte of text that is not ordinary, or at it when it ends the text or cannot be judged yet. */
  #pastInText(bytes: Buffer, at: number): number {
    if (bytes[at] === 0x26) return Math.max(at, referenceEnd(bytes, at));
    if (bytes[at] !== 0x5d) return this.#past(bytes, at, inText);
    if (at + 2 >= bytes.length) return at;
    return bytes[at + 1] === 0x5d && bytes[at + 2] === 0x3e ? at : at + 1;
  }

  /** Behind one that is fine, a line end or a doubtful character; at the byte itself where it is something else or wrong. */
  #past(bytes: Buffer, at: number, table: Uint8Array): number {
    switch (table[bytes[at]!]) {
      case ordinary:
        return at + 1;
      case lineFeed:
        this.line++;
        return at + 1;
      case carriageReturn:
        if (at + 1 === bytes.length) return at;
        this.line++;
        return bytes[at + 1] === 0x0a ? at + 2 : at + 1;
      case doubtful:
        return bytes[at + 1] === 0xbf && bytes[at + 2]! >= 0xbe ? at : at + 3;
      default:
        return at;
    }
  }

  /** The first byte that has a meaning by this table, or none of its classes; unsure where there is none. */
  until(bytes: Buffer, start: number, table: Uint8Array): number {
    const { length } = bytes;
    let at = start;
    for (;;) {
      while (at < length && table[bytes[at]!] === ordinary) at++;
      if (at === length) return unsure;
      const next = this.#past(bytes, at, table);
      if (next === at) return at;
      at = next;
    }
  }
}
