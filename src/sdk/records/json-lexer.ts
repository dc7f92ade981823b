import type { Problem } from '../../lib/problem.ts';
import { excerptOfBytes } from '../../lib/redact.ts';
import { faultIn, type RecordInput } from './input.ts';
import { kind } from './json-paths.ts';
import { digitsEnd, escapable, isHex, runEnd } from './json-tokens.ts';

/**
 * Finds the ends of JSON values (strict RFC 8259) in a block of UTF-8. Every method takes a position and returns the
 * one after its value, or -1 if the block ends first. In that case, the lexer's position hasn't changed, and the caller
 * repeats the call with more bytes.
 */
export class JsonLexer {
  bytes: Buffer = Buffer.alloc(0);
  /** A view of the same bytes, to read four at a time. */
  protected view = viewOf(this.bytes);
  /** Whether the input ends with these bytes, so that a number may end with them. */
  last = false;
  /** Number of input bytes before the block. */
  offset = 0;
  /** Number of line feeds read so far. After a method has returned -1, some line feeds are counted twice. */
  lines = 0;
  /** Maximum nesting depth of a skipped value. */
  maxDepth = 256;
  /** Number of records in this batch, and in the input before this batch. Errors report these numbers. */
  rows = 0;
  recordsBefore = 0;
  /**
   * Results since the last reset: whether the string has an escape, whether the value has white space, and the number's
   * kind.
   */
  protected escaped = false;
  protected spaced = false;
  protected numberKind = 0;
  protected readonly input: RecordInput;

  constructor(input: RecordInput) {
    this.input = input;
  }

  /** Continues with these bytes. */
  show(bytes: Buffer): void {
    this.bytes = bytes;
    this.view = viewOf(bytes);
  }

  /** Position after the white space at `pos`. */
  space(pos: number): number {
    const { bytes } = this;
    let byte = bytes[pos];
    if (byte === undefined || byte > 32) return pos;
    this.spaced = true;
    while (byte === 32 || byte === 10 || byte === 13 || byte === 9) {
      if (byte === 10) this.lines++;
      byte = bytes[++pos];
    }
    return pos;
  }

  /** Position after the value at `pos`, whatever its type. The value is validated but not kept. */
  skip(pos: number, depth = 1): number {
    const byte = this.bytes[pos];
    if (byte === 34) {
      const close = this.string(pos + 1);
      return close < 0 ? -1 : close + 1;
    }
    if (byte === 123 || byte === 91) return this.#skipInside(pos, depth);
    if (byte === 110 || byte === 116 || byte === 102) return this.literal(pos);
    return this.number(pos);
  }

  #skipInside(pos: number, depth: number): number {
    const { bytes } = this;
    if (depth > this.maxDepth) throw this.tooDeep(pos);
    const isObject = bytes[pos] === 123;
    const close = isObject ? 125 : 93;
    let i = this.space(pos + 1);
    if (bytes[i] === close) return i + 1;
    for (;;) {
      if (isObject) {
        i = this.#skipKey(i);
        if (i < 0) return -1;
      }
      i = this.skip(i, depth + 1);
      if (i < 0) return -1;
      i = this.space(i);
      const byte = bytes[i];
      if (byte === close) return i + 1;
      if (byte !== 44) return this.wrong(i, isObject ? "',' or '}'" : "',' or ']'");
      i = this.space(i + 1);
    }
  }

  #skipKey(pos: number): number {
    if (this.bytes[pos] !== 34) return this.wrong(pos, 'a key');
    const end = this.string(pos + 1);
    if (end < 0) return -1;
    const colon = this.space(end + 1);
    return this.bytes[colon] === 58 ? this.space(colon + 1) : this.wrong(colon, "':'");
  }

  /** Position of the closing quote of the string whose content starts at `pos`. */
  string(pos: number): number {
    this.escaped = false;
    const { bytes, view } = this;
    for (let i = pos; ; ) {
      i = runEnd(bytes, view, i);
      const byte = bytes[i];
      if (byte === 34) return i;
      if (byte !== 92) return this.wrong(i, 'a character of a string (control characters must be escaped)');
      this.escaped = true;
      const length = this.#escape(i);
      if (length < 0) return -1;
      i += length;
    }
  }

  #escape(pos: number): number {
    const letter = this.bytes[pos + 1];
    if (letter !== 117) return escapable[letter!] === 1 ? 2 : this.wrong(pos + 1, 'an escape');
    for (let i = pos + 2; i < pos + 6; i++) if (!isHex(this.bytes[i]!)) return this.wrong(i, 'four hex digits');
    return 6;
  }

  /** Position after the number at `pos`. */
  number(pos: number): number {
    const { bytes } = this;
    const first = bytes[pos] === 45 ? pos + 1 : pos;
    let i = digitsEnd(bytes, first);
    if (i === first) return this.wrong(i, 'a value');
    // A zero must not be followed by another digit.
    if (bytes[first] === 48) i = first + 1;
    this.numberKind = kind.integer;
    if (bytes[i] === 46) {
      this.numberKind = kind.fraction;
      const end = digitsEnd(bytes, i + 1);
      if (end === i + 1) return this.wrong(end, 'a digit');
      i = end;
    }
    if (bytes[i] === 101 || bytes[i] === 69) {
      this.numberKind = kind.exponent;
      const from = bytes[i + 1] === 43 || bytes[i + 1] === 45 ? i + 2 : i + 1;
      i = digitsEnd(bytes, from);
      if (i === from) return this.wrong(i, 'a digit');
    }
    return i >= bytes.length && !this.last ? -1 : i;
  }

  /** Position after `true`, `false` or `null` at `pos`. */
  literal(pos: number): number {
    const { bytes } = this;
    const word = bytes[pos] === 116 ? 'true' : bytes[pos] === 102 ? 'false' : 'null';
    for (let i = 1; i < word.length; i++) {
      if (bytes[pos + i] !== word.charCodeAt(i)) return this.wrong(pos + i, word);
    }
    return pos + word.length;
  }

  /** Returns -1 if there are no more bytes; otherwise throws, because the data is invalid. */
  protected wrong(pos: number, expected: string): -1 {
    if (pos >= this.bytes.length) return -1;
    throw this.fault(pos, `expected ${expected}`);
  }

  protected tooDeep(pos: number): Problem {
    return this.fault(pos, `values are nested more than ${this.maxDepth} levels deep`);
  }

  /** The problem for JSON that is invalid at this position. */
  fault(pos: number, what: string, next = this.#adviceAt(pos)): Problem {
    return faultIn(this.input, {
      code: 'JSON_SYNTAX',
      message: `byte ${this.offset + pos + 1}: ${what}`,
      spot: { row: this.recordsBefore + this.rows + 1 },
      seen: excerptOfBytes(this.bytes, pos - 20, pos + 20),
      next,
    });
  }

  #adviceAt(pos: number): string {
    const word = /^-?(?:NaN|Infinity)\b/.exec(this.bytes.toString('latin1', pos, pos + 10))?.[0];
    if (word !== undefined) return `${word} is not valid JSON (RFC 8259): set \`allow_nan: true\` to read it as null`;
    return 'check the data at this position, `format`, and the program that writes the data';
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}
