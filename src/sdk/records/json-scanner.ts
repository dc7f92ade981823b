import { excerptOfBytes } from '../../lib/redact.ts';
import type { ReplacedCharacters } from '../../lib/replaced-characters.ts';
import { faultIn, type RecordInput } from './input.ts';
import { type JsonPaths, kind, type PathNode } from './json-paths.ts';
import { compactInPlace, digitsEnd, isHex, keyEnd, unescapeInPlace } from './json-text.ts';

const mostDepth = 256;
const absent = -1;
const absentAsNull = -2;

interface JsonScannerOptions {
  readonly input: RecordInput;
  readonly paths: JsonPaths;
  /** Counts the lone surrogates of cells. */
  readonly replaced: ReplacedCharacters;
}

/**
 * Reads JSON values (RFC 8259, strictly) out of a block of UTF-8 without making a JavaScript value of any of them. Every
 * method takes a position and returns the one behind what it read, or -1 when the block ends before; then nothing has
 * happened, and the same is tried again with more bytes.
 */
export class JsonScanner {
  bytes: Buffer = Buffer.alloc(0);
  /** No more bytes will come, so a number may end with them. */
  last = false;
  /** Bytes of the input before the block. */
  offset = 0;
  /** Start and end of each cell, row after row; only when {@link begin} was given a width. */
  spans = new Int32Array(0);
  rows = 0;
  /** Slots that hold kinds of values whose text is not canonical for the column. */
  dirty = new Uint8Array(0);
  readonly #replaced: ReplacedCharacters;
  readonly #input: RecordInput;
  readonly #paths: JsonPaths;
  #width = 0;
  #row = 0;
  #escaped = false;
  #spaced = false;
  #number = 0;
  /** Cells of the row at hand that must be rewritten once it is complete: span index, and 1 for json. */
  readonly #rewrites: number[] = [];
  /** Records of the input before those of this batch, for errors. */
  recordsBefore = 0;

  constructor({ input, paths, replaced }: JsonScannerOptions) {
    this.#input = input;
    this.#paths = paths;
    this.#replaced = replaced;
  }

  /** Begins a new batch of at most `capacity` rows of `width` cells; width 0 only surveys. */
  begin(width: number, capacity: number): void {
    this.recordsBefore += this.rows;
    this.rows = 0;
    this.#width = width;
    this.spans = new Int32Array(2 * width * capacity).fill(absent);
    this.dirty = new Uint8Array(width);
  }

  /** Reads one record into the next row. */
  record(pos: number): number {
    this.#row = 2 * this.#width * this.rows;
    const { root } = this.#paths;
    const end = this.bytes[pos] === 123 ? this.#object(root, pos) : this.#value(this.#valueNode(), pos);
    if (end < 0) this.#forget();
    else {
      this.rows++;
      if (this.#rewrites.length > 0) this.#rewrite();
    }
    return end;
  }

  /** A record that is no object is a row with one column, `value`. */
  #valueNode(): PathNode {
    return this.#paths.child(this.#paths.root, 'value');
  }

  #forget(): void {
    this.#rewrites.length = 0;
    this.spans.fill(absent, this.#row, this.#row + 2 * this.#width);
  }

  #rewrite(): void {
    for (let i = 0; i < this.#rewrites.length; i += 2) {
      const at = this.#rewrites[i]!;
      const [start, end] = [this.spans[at]!, this.spans[at + 1]!];
      this.spans[at + 1] =
        this.#rewrites[i + 1] === 1
          ? compactInPlace(this.bytes, start, end)
          : unescapeInPlace(this.bytes, [start, end], (codePoint) => this.#countLone(at, codePoint));
    }
    this.#rewrites.length = 0;
  }

  #countLone(at: number, codePoint: number): void {
    const slot = (at / 2) % this.#width;
    const column = () => this.#paths.all().find((node) => node.slot === slot)?.path ?? '';
    this.#replaced.add(1, () => ({ codePoint, row: this.recordsBefore + this.rows, column: column() }));
  }

  #object(node: PathNode, pos: number): number {
    const { bytes } = this;
    let i = this.space(pos + 1);
    if (bytes[i] === 125) return i + 1;
    for (let expected = 0; ; expected++) {
      if (bytes[i] !== 34) return this.#wrong(i, 'a key');
      let child = node.children[expected];
      const end = child === undefined ? 0 : keyEnd(bytes, i + 1, child.key);
      if (child !== undefined && end > 0) i = end;
      else {
        const close = this.string(i + 1);
        if (close < 0) return -1;
        child = this.#paths.child(node, this.#key(i + 1, close));
        expected = child.index;
        i = close + 1;
      }
      i = this.space(i);
      if (bytes[i] !== 58) return this.#wrong(i, "':'");
      i = this.#value(child, this.space(i + 1));
      if (i < 0) return -1;
      i = this.space(i);
      const byte = bytes[i];
      if (byte === 125) return i + 1;
      if (byte !== 44) return this.#wrong(i, "',' or '}'");
      i = this.space(i + 1);
    }
  }

  #key(start: number, end: number): string {
    if (!this.#escaped) return this.bytes.toString('latin1', start, end);
    const text = Buffer.from(this.bytes.subarray(start, end));
    return text.toString(
      'latin1',
      0,
      unescapeInPlace(text, [0, text.length], () => undefined),
    );
  }

  #value(node: PathNode, pos: number): number {
    const byte = this.bytes[pos];
    if (byte === 34) {
      const close = this.string(pos + 1);
      if (close < 0) return -1;
      if (node.raw) this.#put(node, kind.string, pos, close + 1);
      else {
        this.#put(node, kind.string, pos + 1, close);
        if (this.#escaped && node.slot >= 0) this.#rewrites.push(this.#row + 2 * node.slot, 0);
      }
      return close + 1;
    }
    if (byte === 123 || byte === 91) return this.#nested(node, pos);
    const isWord = byte === 110 || byte === 116 || byte === 102;
    const end = isWord ? this.literal(pos) : this.number(pos);
    const word = byte === 110 ? kind.null : kind.boolean;
    if (end >= 0) this.#put(node, isWord ? word : this.#number, pos, end);
    return end;
  }

  #nested(node: PathNode, pos: number): number {
    const isObject = this.bytes[pos] === 123;
    const inside = this.space(pos + 1);
    const isEmpty = isObject && this.bytes[inside] === 125;
    if (isObject && inside >= this.bytes.length) return this.#wrong(inside, 'a key');
    if (isObject && !isEmpty && node.descend) return this.#object(node, pos);
    this.#spaced = false;
    const end = this.skip(pos);
    if (end < 0) return -1;
    this.#put(node, isEmpty ? kind.empty : kind.container, pos, end);
    if (this.#spaced && node.slot >= 0) this.#rewrites.push(this.#row + 2 * node.slot, 1);
    return end;
  }

  #put(node: PathNode, what: number, start: number, end: number): void {
    node.seen |= what;
    const { slot } = node;
    if (slot < 0) return;
    const at = this.#row + 2 * slot;
    if (this.spans[at] !== absent) throw this.#twice(node, start);
    this.spans[at] = what === kind.null ? absentAsNull : start;
    this.spans[at + 1] = end;
    if ((what & node.natural) === 0 && what !== kind.null) this.dirty[slot] = 1;
  }

  /** Behind the white space at `pos`. */
  space(pos: number): number {
    const { bytes } = this;
    let byte = bytes[pos];
    if (byte === undefined || byte > 32) return pos;
    this.#spaced = true;
    while (byte === 32 || byte === 10 || byte === 13 || byte === 9) byte = bytes[++pos];
    return pos;
  }

  /** Behind any one value, checked but not kept. */
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
    if (depth > mostDepth) throw this.fault(pos, `values are nested more than ${mostDepth} deep`);
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
      if (byte !== 44) return this.#wrong(i, isObject ? "',' or '}'" : "',' or ']'");
      i = this.space(i + 1);
    }
  }

  #skipKey(pos: number): number {
    if (this.bytes[pos] !== 34) return this.#wrong(pos, 'a key');
    const end = this.string(pos + 1);
    if (end < 0) return -1;
    const colon = this.space(end + 1);
    return this.bytes[colon] === 58 ? this.space(colon + 1) : this.#wrong(colon, "':'");
  }

  /** The closing quote of the string whose content begins at `pos`. */
  string(pos: number): number {
    const { bytes } = this;
    const end = bytes.length;
    this.#escaped = false;
    while (pos < end) {
      const byte = bytes[pos]!;
      if (byte === 34) return pos;
      if (byte === 92) {
        this.#escaped = true;
        const length = this.#escape(pos);
        if (length < 0) return -1;
        pos += length;
      } else if (byte >= 32) pos++;
      else return this.#wrong(pos, 'a character of a string (control characters must be escaped)');
    }
    return -1;
  }

  #escape(pos: number): number {
    const letter = this.bytes[pos + 1];
    if (letter !== 117) {
      const isKnown = letter !== undefined && '"\\/bfnrt'.includes(String.fromCharCode(letter));
      return isKnown ? 2 : this.#wrong(pos + 1, 'an escape');
    }
    for (let i = pos + 2; i < pos + 6; i++) if (!isHex(this.bytes[i])) return this.#wrong(i, 'four hex digits');
    return 6;
  }

  /** Behind the number at `pos`. */
  number(pos: number): number {
    const { bytes } = this;
    let i = bytes[pos] === 45 ? pos + 1 : pos;
    this.#number = kind.integer;
    if (bytes[i] === 48) i++;
    else {
      const end = digitsEnd(bytes, i);
      if (end === i) return this.#wrong(i, 'a value');
      i = end;
    }
    if (bytes[i] === 46) {
      this.#number = kind.fraction;
      const end = digitsEnd(bytes, i + 1);
      if (end === i + 1) return this.#wrong(end, 'a digit');
      i = end;
    }
    if (bytes[i] === 101 || bytes[i] === 69) {
      this.#number = kind.exponent;
      const from = bytes[i + 1] === 43 || bytes[i + 1] === 45 ? i + 2 : i + 1;
      i = digitsEnd(bytes, from);
      if (i === from) return this.#wrong(i, 'a digit');
    }
    return i >= bytes.length && !this.last ? -1 : i;
  }

  /** Behind `true`, `false` or `null` at `pos`. */
  literal(pos: number): number {
    const { bytes } = this;
    const word = bytes[pos] === 116 ? 'true' : bytes[pos] === 102 ? 'false' : 'null';
    for (let i = 1; i < word.length; i++) {
      if (bytes[pos + i] !== word.charCodeAt(i)) return this.#wrong(pos + i, word);
    }
    return pos + word.length;
  }

  /** -1 when the bytes have merely run out; else what stands there is wrong. */
  #wrong(pos: number, expected: string): -1 {
    if (pos >= this.bytes.length) return -1;
    throw this.fault(pos, `expected ${expected}`);
  }

  #twice(node: PathNode, pos: number) {
    return this.fault(pos, `${JSON.stringify(node.path)} stands twice in one record`);
  }

  /** The problem of a document that is no JSON at this position. */
  fault(pos: number, what: string, next = this.#adviceAt(pos)) {
    return faultIn(this.#input, {
      code: 'JSON_SYNTAX',
      message: `byte ${this.offset + pos + 1}: ${what}`,
      spot: { row: this.recordsBefore + this.rows + 1 },
      seen: excerptOfBytes(this.bytes, pos - 20, pos + 20),
      next,
    });
  }

  #adviceAt(pos: number): string {
    const word = /^-?(?:NaN|Infinity)\b/.exec(this.bytes.toString('latin1', pos, pos + 10))?.[0];
    if (word !== undefined) return `${word} is no JSON (RFC 8259): let what writes the data write null`;
    return 'look at what is there, and check `format` and what writes the data';
  }
}
