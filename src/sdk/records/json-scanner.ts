import { same } from '../../lib/four-bytes.ts';
import type { ReplacedCharacters } from '../../lib/replaced-characters.ts';
import type { RecordInput } from './input.ts';
import { JsonLexer } from './json-lexer.ts';
import { type JsonPaths, kind, type PathNode } from './json-paths.ts';
import { compactInPlace, runEnd, unescapeInPlace } from './json-text.ts';

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
  #valueStart = 0;
  /** Cells of the row at hand that must be rewritten once it is complete: span index, and 1 for json. */
  readonly #rewrites: number[] = [];

  constructor({ input, paths, replaced }: JsonScannerOptions) {
    super(input);
    this.#paths = paths;
    this.#replaced = replaced;
  }

  override show(bytes: Buffer): void {
    super.show(bytes);
    for (const node of this.#paths.all()) node.leadLength = 0;
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
    const { bytes, view } = this;
    const { length } = bytes;
    const { children } = node;
    let i = pos;
    for (let index = 0; ; index++) {
      let child = children[index];
      const lead = child === undefined ? 0 : child.leadLength;
      if (lead > 0 && i + lead < length && same(view, i, child!.leadStart, lead)) i += lead;
      else {
        const at = this.space(index === 0 ? i + 1 : i);
        if (bytes[at] === 125) return at + 1;
        child = this.#child(node, index, at);
        if (child === undefined) return -1;
        if ((child.index === 0) === (index === 0)) {
          child.leadStart = i;
          child.leadLength = this.#valueStart - i;
        }
        i = this.#valueStart;
        index = child.index;
      }
      const byte = bytes[i]!;
      if (byte === 34) {
        let end = runEnd(bytes, view, i + 1);
        this.escaped = bytes[end] !== 34;
        if (this.escaped) {
          end = this.restOfString(end);
          if (end < 0) return -1;
        }
        this.#text(child!, i, end);
        i = end + 1;
        continue;
      }
      if (byte <= 57 && byte >= 45) {
        const end = this.number(i);
        if (end < 0) return -1;
        this.#put(child!, this.numberKind, i, end);
        i = end;
        continue;
      }
      if (byte <= 32) i = this.space(i);
      i = this.#value(child!, i);
      if (i < 0) return -1;
    }
  }

  /** Reads the next key, from behind the brace or at what stands behind a value; undefined if the block ends before its value. */
  #child(node: PathNode, index: number, pos: number): PathNode | undefined {
    const { bytes } = this;
    let at = pos;
    if (index > 0) {
      if (bytes[at] !== 44) return void this.wrong(at, "',' or '}'");
      at = this.space(at + 1);
    }
    if (bytes[at] !== 34) return void this.wrong(at, 'a key');
    const close = this.string(at + 1);
    if (close < 0) return undefined;
    const child = this.#paths.child(node, this.#key(at + 1, close));
    const colon = this.space(close + 1);
    if (bytes[colon] !== 58) return void this.wrong(colon, "':'");
    this.#valueStart = this.space(colon + 1);
    return child;
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
      this.#text(node, pos, close);
      return close + 1;
    }
    if (byte === 123 || byte === 91) return this.#nested(node, pos);
    const isWord = byte === 110 || byte === 116 || byte === 102;
    const end = isWord ? this.literal(pos) : this.number(pos);
    const word = byte === 110 ? kind.null : kind.boolean;
    if (end >= 0) this.#put(node, isWord ? word : this.numberKind, pos, end);
    return end;
  }

  /** A string between these quotes. */
  #text(node: PathNode, open: number, close: number): void {
    if (node.raw) this.#put(node, kind.string, open, close + 1);
    else {
      this.#put(node, kind.string, open + 1, close);
      if (this.escaped && node.slot >= 0) this.#rewrites.push(this.#row + 2 * node.slot, 0);
    }
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
    if ((node.seen & what) === 0) node.seen |= what;
    if (node.slot >= 0) this.#store(node, what, start, end);
  }

  #store(node: PathNode, what: number, start: number, end: number): void {
    const { slot } = node;
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
