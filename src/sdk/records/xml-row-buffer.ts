import { unresolved, type XmlColumnPart } from './xml-column-part.ts';
import { XmlLexer } from './xml-lexer.ts';
import type { XmlParts } from './xml-parts.ts';
import { resolveInPlace } from './xml-text.ts';

export interface XmlScannerOptions {
  readonly parts: XmlParts;
  /** Number of cells in a row; 0 if records are only surveyed. */
  readonly width: number;
  /** False if the document is only checked for well-formedness and values don't matter. */
  readonly isRead?: boolean;
}

/**
 * The rows that a scanner has read: which bytes belong to which cell, and what to undo if the scanner can't finish a
 * record.
 */
export class XmlRowBuffer extends XmlLexer {
  /** Start and end of each cell, row by row. */
  spans = new Int32Array(0);
  /** Number of rows in this batch. The parser also increments it for each record that it reads. */
  rows = 0;
  /** The last line of each row. */
  lines = new Int32Array(0);
  /** The parts of the current records. Records with different namespaces in scope have a different object. */
  parts: XmlParts;
  protected readonly isRead: boolean;
  protected capacity = 0;
  /**
   * The number of the current record. If values don't matter, the number of the current tag, because then only
   * attributes must be unique.
   */
  protected recordNumber = 0;
  /** The position after the last complete record. */
  protected end = 0;
  protected endLine = 1;
  readonly #width: number;
  #row = 0;
  /** Values in the current record that are the first ones of their parts. */
  readonly #first: { readonly part: XmlColumnPart; start: number; end: number; isEscaped: boolean }[] = [];
  /** Spans of the current record that contain references, CDATA or carriage returns. */
  readonly #rewrites: number[] = [];

  constructor({ parts, width, isRead = true }: XmlScannerOptions) {
    super();
    this.parts = parts;
    this.#width = width;
    this.isRead = isRead;
  }

  /** Starts a new batch of at most `capacity` rows. */
  begin(capacity: number): void {
    this.rows = 0;
    this.capacity = capacity;
    this.spans = new Int32Array(2 * this.#width * capacity).fill(-1);
    if (this.isRead) this.lines = new Int32Array(capacity);
  }

  /** Starts to read records at this position. */
  protected beginAt(pos: number): void {
    this.#row = 2 * this.#width * this.rows;
    this.#passTo(pos);
  }

  /** Ends a record's row. Returns false if the record has two parts with the same path. */
  protected complete(end: number): boolean {
    const { spans } = this;
    if (this.#first.length > 0 && !this.#resolve()) return false;
    if (this.#rewrites.length > 0) {
      for (const at of this.#rewrites) spans[at + 1] = resolveInPlace(this.bytes, spans[at]!, spans[at + 1]!);
      this.#rewrites.length = 0;
    }
    if (this.isRead) this.lines[this.rows] = this.line;
    this.rows++;
    this.#row += 2 * this.#width;
    this.#passTo(end);
    return true;
  }

  #resolve(): boolean {
    if (!this.#first.every(({ part }) => this.parts.ownsPath(part))) return false;
    // A path that exactly matches a column's name takes precedence over a path with a prefix.
    const hasPrefix = ({ part }: { part: XmlColumnPart }) => Number(part.path!.includes(':'));
    if (this.#width > 0) this.#first.sort((a, b) => hasPrefix(a) - hasPrefix(b));
    for (const { part, start, end, isEscaped } of this.#first) {
      this.parts.resolve(part);
      this.#store(part, start, end, isEscaped);
    }
    this.#first.length = 0;
    return true;
  }

  #passTo(end: number): void {
    this.recordNumber++;
    this.end = end;
    this.endLine = this.line;
  }

  /** Drops everything read from an incomplete record. */
  protected drop(): void {
    this.line = this.endLine;
    this.#first.length = 0;
    this.#rewrites.length = 0;
    this.spans.fill(-1, this.#row, this.#row + 2 * this.#width);
  }

  /** Puts a value into its part's cell; a start of -1 means null. Returns false if the part already has a value. */
  protected put(part: XmlColumnPart, start: number, end: number, isEscaped: boolean): boolean {
    if (part.record === this.recordNumber) return false;
    part.record = this.recordNumber;
    if (part.slot >= 0) this.#store(part, start, end, isEscaped);
    else if (part.slot === unresolved) this.#first.push({ part, start, end, isEscaped });
    return !part.isTaken;
  }

  #store({ slot }: XmlColumnPart, start: number, end: number, isEscaped: boolean): void {
    if (slot < 0) return;
    const at = this.#row + 2 * slot;
    this.spans[at] = start;
    this.spans[at + 1] = end;
    if (isEscaped && start >= 0) this.#rewrites.push(at);
  }
}
