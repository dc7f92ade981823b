import { referenceEnd } from '../../lib/xml-reference.ts';
import {
  carriageReturn,
  cut,
  doubt,
  doubtful,
  endOfName,
  endOfRun,
  inCdata,
  inComment,
  inDoubleQuotes,
  inInstruction,
  inSingleQuotes,
  inSpace,
  inText,
  lineFeed,
  ordinary,
  tab,
} from './xml-tokens.ts';

const commentBegin = Buffer.from('<!--');
const cdataBegin = Buffer.from('<![CDATA[');
/** Length of `&#x10FFFF;`, the longest token in text that can be split at the end of a block. */
const maxCut = 10;
/** Values, comments and CDATA sections longer than this are left to the parser, which limits their length. */
const maxPieceBytes = 1024 * 1024;

/**
 * Finds the ends of text and markup (XML 1.0 in UTF-8) in a block of bytes, as long as the bytes are certain to be
 * well-formed. Methods take a position and return the position after what they read, {@link cut} or {@link doubt}.
 */
export class XmlLexer {
  bytes: Buffer = Buffer.alloc(0);
  /** The same bytes, for reading four at a time. */
  protected view = viewOf(this.bytes);
  /** The current line, from 1. A caller that continues at a different position must set the line. */
  line = 1;
  /** Whether the text or value has references, CDATA or carriage returns. Callers reset it before each text. */
  protected isEscaped = false;
  /**
   * The start of the last attribute value read, and whether the value contains line breaks or tabs, which count as
   * spaces.
   */
  protected valueStart = 0;
  protected hasBreaks = false;

  /** Continues with these bytes. */
  show(bytes: Buffer): void {
    this.bytes = bytes;
    this.view = viewOf(bytes);
  }

  /**
   * The end of text: at markup, at the end of the bytes, or before a token that is incomplete or not allowed in text.
   */
  text(pos: number): number {
    const { bytes, view } = this;
    const { length } = bytes;
    for (let at = pos; ; ) {
      at = endOfRun(bytes, view, at);
      if (at >= length) return at;
      const byte = bytes[at];
      let next = at + 1;
      if (byte === 0x3c) return at;
      if (byte === 0x0a) this.line++;
      else if (byte === 0x26) {
        this.isEscaped = true;
        next = referenceEnd(bytes, at);
      } else next = this.#pastInText(at);
      if (next <= at) return at;
      at = next;
    }
  }

  /**
   * The position after the token that starts with a special byte in text; `at` if the byte ends the text or the token
   * is incomplete.
   */
  #pastInText(at: number): number {
    const { bytes } = this;
    if (bytes[at] !== 0x5d) return this.#past(at, inText);
    if (at + 2 >= bytes.length) return at;
    return bytes[at + 1] === 0x5d && bytes[at + 2] === 0x3e ? at : at + 1;
  }

  /**
   * The position after an ordinary byte, a line end or a suspicious character that turns out to be valid; `at` if the
   * character is invalid or incomplete, or has a special meaning.
   */
  #past(at: number, table: Uint8Array): number {
    const { bytes } = this;
    const what = table[bytes[at]!]!;
    if (what === ordinary) return at + 1;
    if (what === doubtful) return bytes[at + 1] === 0xbf && bytes[at + 2]! >= 0xbe ? at : at + 3;
    if (what !== lineFeed && what !== carriageReturn && what !== tab) return at;
    this.hasBreaks = true;
    if (what === tab) return at + 1;
    if (what === carriageReturn) {
      if (at + 1 === bytes.length) return at;
      this.isEscaped = true;
      if (bytes[at + 1] === 0x0a) at++;
    }
    this.line++;
    return at + 1;
  }

  /**
   * The position of the first byte that has a special meaning in this table or is invalid; the end of the bytes if
   * there is none.
   */
  until(pos: number, table: Uint8Array): number {
    const { bytes } = this;
    const { length } = bytes;
    for (let at = pos; ; ) {
      while (at < length && table[bytes[at]!] === ordinary) at++;
      if (at >= length) return length;
      const next = this.#past(at, table);
      if (next === at) return at + 1 === length && table[bytes[at]!] === carriageReturn ? length : at;
      at = next;
    }
  }

  /** The position after the white space at `pos`. */
  space(pos: number): number {
    return this.bytes[pos]! > 0x20 ? pos : this.until(pos, inSpace);
  }

  /** Reads an attribute from the end of its name through its closing quote. */
  value(nameEnd: number): number {
    const { bytes } = this;
    let at = this.space(nameEnd);
    if (bytes[at] !== 0x3d) return this.unless(at);
    at = this.space(at + 1);
    const quote = bytes[at];
    if (quote !== 0x22 && quote !== 0x27) return this.unless(at);
    this.valueStart = ++at;
    this.isEscaped = false;
    this.hasBreaks = false;
    for (;;) {
      at = this.until(at, quote === 0x22 ? inDoubleQuotes : inSingleQuotes);
      if (bytes[at] === quote) return this.#bounded(this.valueStart, at + 1);
      if (bytes[at] !== 0x26) return this.unless(at);
      this.isEscaped = true;
      at = referenceEnd(bytes, at);
      if (at < 0) return at;
    }
  }

  /** The position after the comment, CDATA section or instruction that starts here with `<!` or `<?`. */
  other(start: number): number {
    if (this.bytes[start + 1] === 0x3f) return this.instruction(start);
    return this.bytes[start + 2] === 0x5b ? this.cdata(start) : this.comment(start);
  }

  /** The position of the next tag's `<`, skipping text and any other content that can be between elements. */
  between(pos: number): number {
    const { bytes } = this;
    let at = this.text(pos);
    while (bytes[at] === 60 && (bytes[at + 1] === 33 || bytes[at + 1] === 63)) {
      at = this.other(at);
      if (at >= 0) at = this.text(at);
    }
    return at;
  }

  comment(start: number): number {
    const { bytes } = this;
    let at = this.word(commentBegin, start);
    while (at >= 0) {
      at = this.until(at, inComment);
      if (bytes[at] !== 0x2d) return this.unless(at);
      if (bytes[at + 1] === 0x2d) return bytes[at + 2] === 0x3e ? this.#bounded(start, at + 3) : this.unless(at + 2);
      at++;
    }
    return at;
  }

  cdata(start: number): number {
    const { bytes } = this;
    let at = this.word(cdataBegin, start);
    while (at >= 0) {
      at = this.until(at, inCdata);
      if (bytes[at] !== 0x5d) return this.unless(at);
      if (bytes[at + 1] === 0x5d && bytes[at + 2] === 0x3e) return this.#bounded(start, at + 3);
      at++;
    }
    return at;
  }

  /** Instructions with the target `xml`, in any letter case, are left to the parser. */
  instruction(start: number): number {
    const { bytes } = this;
    let at = endOfName(bytes, start + 2);
    if (at < 0) return at;
    if (/^xml$/i.test(bytes.toString('latin1', start + 2, at))) return doubt;
    if (bytes[at] !== 0x3f && inSpace[bytes[at]!] === 0) return doubt;
    for (;;) {
      at = this.until(at, inInstruction);
      if (bytes[at] !== 0x3f) return this.unless(at);
      if (bytes[at + 1] === 0x3e) return this.#bounded(start, at + 2);
      at++;
    }
  }

  /** The position after these bytes if the block contains them at `pos`. */
  word(word: Buffer, pos: number): number {
    const { bytes } = this;
    const last = Math.min(word.length, bytes.length - pos);
    for (let i = 0; i < last; i++) if (bytes[pos + i] !== word[i]) return doubt;
    return last === word.length ? pos + last : cut;
  }

  #bounded(start: number, end: number): number {
    return end - start > maxPieceBytes ? doubt : end;
  }

  /** The value to return if a byte isn't the expected one. */
  unless(pos: number): number {
    return pos >= this.bytes.length ? cut : doubt;
  }

  /** The value to return if {@link text} didn't end at markup. */
  unlessCut(textEnd: number): number {
    return this.unless(textEnd + maxCut);
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}
