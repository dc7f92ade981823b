import { same } from '../../lib/four-bytes.ts';
import type { ReplacedCharacters } from '../../lib/replaced-characters.ts';
import type { RecordInput } from './input.ts';
import { JsonLexer } from './json-lexer.ts';
import { type JsonPaths, kind, type PathNode } from './json-paths.ts';
import { JsonRowTemplate } from './json-row-template.ts';
import { compactInPlace, unescapeInPlace } from './json-text.ts';
import { digitsEnd, runEnd, scalarEnd, stringEnd, wholeEnd } from './json-tokens.ts';

const absent = -1;
const absentAsNull = -2;

interface JsonScannerOptions {
  readonly input: RecordInput;
  readonly paths: JsonPaths;
  /** Counts the lone surrogates in cells. */
  readonly replaced: ReplacedCharacters;
  /** False if the values are only validated, so that their kinds don't matter. */
  readonly isRead?: boolean;
}

/** Reads records from a block of UTF-8 into byte spans, without creating JavaScript values for cells. */
export class JsonScanner extends JsonLexer {
  /** Start and end of each cell, row after row. Set only if {@link begin} was called with a width. */
  spans = new Int32Array(0);
  /** Cells whose text isn't canonical for the column. */
  dirty = new Uint8Array(0);
  /** The last record's start. */
  lastStart = 0;
  readonly #replaced: ReplacedCharacters;
  readonly #paths: JsonPaths;
  readonly #isRead: boolean;
  #width = 0;
  #row = 0;
  #valueStart = 0;
  #capacity = 0;
  /** The end of the last row's last value, if the row had exactly the first columns; otherwise, -1. */
  #rowTail = -1;
  #rowColumns = 0;
  #rowEnd = 0;
  readonly #template = new JsonRowTemplate();
  /** Number of rows to read before the template is tried again; it increases while the template doesn't match. */
  #pause = 0;
  #patience = 1;
  /** Cells of the current row to rewrite once it's complete: pairs of a span index and a flag, which is 1 for JSON. */
  readonly #rewrites: number[] = [];

  constructor({ input, paths, replaced, isRead = true }: JsonScannerOptions) {
    super(input);
    this.#isRead = isRead;
    this.#paths = paths;
    this.#replaced = replaced;
  }

  override show(bytes: Buffer): void {
    super.show(bytes);
    for (const node of this.#paths.all()) node.leadLength = 0;
    this.#template.columns = 0;
    this.#rowTail = -1;
  }

  /** Begins a new batch of at most `capacity` rows with `width` cells. If the width is 0, records are only surveyed. */
  begin(width: number, capacity: number): void {
    this.recordsBefore += this.rows;
    this.rows = 0;
    this.#width = width;
    this.#capacity = capacity;
    this.spans = new Int32Array(2 * width * capacity).fill(absent);
    this.dirty = new Uint8Array(width);
  }

  /**
   * Reads the next record, and any following records with the same structure, into the next rows. Returns the end of
   * the last record.
   */
  record(pos: number): number {
    const { root } = this.#paths;
    this.#row = 2 * this.#width * this.rows;
    if (this.#template.columns > 0 && this.#pause-- <= 0) {
      const alike = this.#rowsAlike(pos);
      if (alike > 0) return alike;
    }
    const tail = this.#rowTail;
    this.#rowTail = -1;
    // A record that isn't an object is a row with one column.
    const end = this.bytes[pos] === 123 ? this.#object(root, pos) : this.#value(this.#paths.child(root, 'value'), pos);
    if (end < 0) this.#forget();
    else {
      this.#complete(pos);
      if (tail >= 0 && this.#rowTail >= 0) {
        const columns = root.children.slice(0, this.#rowColumns);
        this.#template.learn(this.bytes, columns, { tail, end: this.#rowEnd, next: pos });
      }
      this.#rowEnd = end;
    }
    return end;
  }

  #complete(start: number): void {
    this.lastStart = start;
    this.rows++;
    this.#row += 2 * this.#width;
    if (this.#rewrites.length > 0) this.#rewrite();
  }

  /**
   * Applies the row template: reads rows as long as each has the same columns and the same bytes between values as the
   * previous row. Returns the end of the last row that it read; 0 if it read none.
   */
  #rowsAlike(pos: number): number {
    const { bytes, view } = this;
    const { length } = bytes;
    const { children } = this.#paths.root;
    const { starts, lengths, lines: feeds, columns } = this.#template;
    const { leadStart, leadLength, leadLines } = children[0]!;
    const isRead = this.#isRead;
    let done = 0;
    let start = pos;
    let { lines } = this;
    if (pos + leadLength < length && same(view, pos, leadStart, leadLength)) {
      this.lines += leadLines;
      for (let i = pos + leadLength, c = 0; ; ) {
        const end = isRead ? this.#cell(children[c]!, i) : scalarEnd(bytes, view, i);
        i = end < 0 && !isRead ? this.#value(children[c]!, i) : end;
        if (i < 0) break;
        const between = lengths[c]!;
        if (i + between < length && same(view, i, starts[c]!, between)) {
          if (++c === columns) {
            this.#complete(start);
            start = i + this.#template.rowOffset;
            done = i + this.#template.braceLength;
            lines = this.lines + this.#template.braceLines;
            if (this.rows === this.#capacity) break;
            c = 0;
          }
          i += between;
          this.lines += feeds[c === 0 ? columns - 1 : c - 1]!;
          continue;
        }
        const brace = c + 1 < columns ? -1 : this.space(i);
        if (bytes[brace] !== 125) break;
        this.#complete(start);
        this.#rowTail = i;
        this.#rowEnd = brace + 1;
        this.#patience = 1;
        return brace + 1;
      }
    }
    this.#forget();
    this.lines = lines;
    this.#rowTail = -1;
    this.#patience = done > 0 ? 1 : Math.min(64, 2 * this.#patience);
    this.#pause = this.#patience - 1;
    return done;
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
    const path = () => this.#paths.all().find((node) => node.slot === slot)?.path ?? '';
    this.#replaced.add(1, () => ({ codePoint, row: this.recordsBefore + this.rows, column: path() }));
  }

  #object(node: PathNode, pos: number): number {
    const { bytes, view } = this;
    let i = pos;
    for (let index = 0, values = 0; ; index++, values++) {
      let child = node.children[index];
      const lead = child === undefined ? 0 : child.leadLength;
      if (lead > 0 && i + lead < bytes.length && same(view, i, child!.leadStart, lead)) {
        i += lead;
        if (child!.leadLines > 0) this.lines += child!.leadLines;
      } else {
        const { lines } = this;
        const at = this.space(index === 0 ? i + 1 : i);
        if (bytes[at] === 125) {
          if (node.depth === 0 && values > 0 && values === index) {
            this.#rowTail = i;
            this.#rowColumns = index;
          }
          return at + 1;
        }
        child = this.#child(node, index, at);
        if (child === undefined) return -1;
        if ((child.index === 0) === (index === 0)) {
          child.leadStart = i;
          child.leadLength = this.#valueStart - i;
          child.leadLines = this.lines - lines;
        }
        i = this.#valueStart;
        index = child.index;
      }
      i = this.#cell(child!, i);
      if (i < 0) return -1;
    }
  }

  /** Reads the value at a path, with a fast path for strings and numbers, which are the most common. */
  #cell(node: PathNode, pos: number): number {
    const { bytes, view } = this;
    const byte = bytes[pos]!;
    if (byte === 34) {
      const run = runEnd(bytes, view, pos + 1);
      const end = bytes[run] === 34 ? run + 1 : stringEnd(bytes, view, run);
      if (end >= 0) this.#text(node, pos, end - 1, end > run + 1);
      if (end >= 0) return end;
    } else if (byte <= 57 && byte >= 45) {
      const whole = wholeEnd(bytes, pos);
      const end = bytes[whole] === 46 ? digitsEnd(bytes, whole + 1) : whole;
      if (whole > 0 && end !== whole + 1 && end < bytes.length && (bytes[end]! | 32) !== 101) {
        this.#put(node, end === whole ? kind.integer : kind.fraction, pos, end);
        return end;
      }
    }
    return this.#value(node, pos);
  }

  /**
   * Reads the next key, starting after the brace or the previous value; undefined if the block ends before the key's
   * value.
   */
  #child(node: PathNode, index: number, pos: number): PathNode | undefined {
    const { bytes } = this;
    if (index > 0 && bytes[pos] !== 44) return void this.wrong(pos, "',' or '}'");
    const at = index === 0 ? pos : this.space(pos + 1);
    if (bytes[at] !== 34) return void this.wrong(at, 'a key');
    const close = this.string(at + 1);
    if (close < 0) return undefined;
    const child = this.escaped
      ? this.#paths.escapedChild(node, bytes.subarray(at + 1, close))
      : this.#paths.child(node, bytes.toString('latin1', at + 1, close));
    const colon = this.space(close + 1);
    if (bytes[colon] !== 58) return void this.wrong(colon, "':'");
    this.#valueStart = this.space(colon + 1);
    return child;
  }

  #value(node: PathNode, start: number): number {
    const pos = this.space(start);
    const byte = this.bytes[pos];
    if (byte === 34) {
      const close = this.string(pos + 1);
      if (close < 0) return -1;
      this.#text(node, pos, close, this.escaped);
      return close + 1;
    }
    if (byte === 123 || byte === 91) return this.#nested(node, pos);
    const isWord = byte === 110 || byte === 116 || byte === 102;
    const end = isWord ? this.literal(pos) : this.number(pos);
    if (end >= 0) this.#put(node, isWord ? (byte === 110 ? kind.null : kind.boolean) : this.numberKind, pos, end);
    return end;
  }

  #text(node: PathNode, open: number, close: number, isEscaped: boolean): void {
    if (node.raw) this.#put(node, kind.string, open, close + 1);
    else {
      this.#put(node, kind.string, open + 1, close);
      if (isEscaped && node.slot >= 0) this.#rewrites.push(this.#row + 2 * node.slot, 0);
    }
  }

  #nested(node: PathNode, pos: number): number {
    const isObject = this.bytes[pos] === 123;
    const { lines } = this;
    const inside = this.space(pos + 1);
    this.lines = lines;
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

  /** A key with a dot can have the name of a nested key. */
  #duplicate(at: number, path: string) {
    const what = `duplicate key ${JSON.stringify(path)} in a record`;
    if (!path.includes('.')) return this.fault(at, what);
    return this.fault(
      at,
      what,
      'if the record has both a key with a dot and a nested key, set `flatten: 0`, which keeps objects as json',
    );
  }

  #store(node: PathNode, what: number, start: number, end: number): void {
    const at = this.#row + 2 * node.slot;
    if (this.spans[at] !== absent) throw this.#duplicate(start, node.path);
    this.spans[at] = what === kind.null ? absentAsNull : start;
    this.spans[at + 1] = end;
    if ((what & node.natural) === 0 && what !== kind.null) this.dirty[node.slot] = 1;
  }
}
