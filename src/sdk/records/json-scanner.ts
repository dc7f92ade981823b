import type { ReplacedCharacters } from '../../lib/replaced-characters.ts';
import type { RecordInput } from './input.ts';
import { JsonLexer } from './json-lexer.ts';
import { type JsonPaths, kind, type PathNode } from './json-paths.ts';
import { compactInPlace, keyEnd, unescapeInPlace } from './json-text.ts';

const absent = -1;
const absentAsNull = -2;

interface JsonScannerOptions {
  readonly input: RecordInput;
  readonly paths: JsonPaths;
  /** Counts the lone surrogates of cells. */
  readonly replaced: ReplacedCharacters;
}

/** Reads records out of a block of UTF-8 into spans of bytes, without making a JavaScript value of any cell. */
export class JsonScanner extends JsonLexer {
  /** Start and end of each cell, row after row; only when {@link begin} was given a width. */
  spans = new Int32Array(0);
  /** Slots that hold kinds of values whose text is not canonical for the column. */
  dirty = new Uint8Array(0);
  readonly #replaced: ReplacedCharacters;
  readonly #paths: JsonPaths;
  #width = 0;
  #row = 0;
  /** Cells of the row at hand that must be rewritten once it is complete: span index, and 1 for json. */
  readonly #rewrites: number[] = [];

  constructor({ input, paths, replaced }: JsonScannerOptions) {
    super(input);
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
      if (bytes[i] !== 34) return this.wrong(i, 'a key');
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
      if (bytes[i] !== 58) return this.wrong(i, "':'");
      i = this.#value(child, this.space(i + 1));
      if (i < 0) return -1;
      i = this.space(i);
      const byte = bytes[i];
      if (byte === 125) return i + 1;
      if (byte !== 44) return this.wrong(i, "',' or '}'");
      i = this.space(i + 1);
    }
  }

  #key(start: number, end: number): string {
    if (!this.escaped) return this.bytes.toString('latin1', start, end);
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
        if (this.escaped && node.slot >= 0) this.#rewrites.push(this.#row + 2 * node.slot, 0);
      }
      return close + 1;
    }
    if (byte === 123 || byte === 91) return this.#nested(node, pos);
    const isWord = byte === 110 || byte === 116 || byte === 102;
    const end = isWord ? this.literal(pos) : this.number(pos);
    const word = byte === 110 ? kind.null : kind.boolean;
    if (end >= 0) this.#put(node, isWord ? word : this.numberKind, pos, end);
    return end;
  }

  #nested(node: PathNode, pos: number): number {
    const isObject = this.bytes[pos] === 123;
    const inside = this.space(pos + 1);
    const isEmpty = isObject && this.bytes[inside] === 125;
    if (isObject && inside >= this.bytes.length) return this.wrong(inside, 'a key');
    if (isObject && !isEmpty && node.descend) return this.#object(node, pos);
    this.spaced = false;
    const end = this.skip(pos);
    if (end < 0) return -1;
    this.#put(node, isEmpty ? kind.empty : kind.container, pos, end);
    if (this.spaced && node.slot >= 0) this.#rewrites.push(this.#row + 2 * node.slot, 1);
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

  #twice(node: PathNode, pos: number) {
    return this.fault(pos, `${JSON.stringify(node.path)} stands twice in one record`);
  }
}
