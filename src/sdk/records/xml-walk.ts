import { Blocks } from './blocks.ts';
import { maxRows } from './columns.ts';
import { openUtf8 } from './encoding.ts';
import type { RecordInput } from './input.ts';
import { outermost, type XmlNames, type XmlScope } from './xml-names.ts';
import { XmlParts } from './xml-parts.ts';
import type { XmlPlaces } from './xml-places.ts';
import type { XmlRecord, XmlValue } from './xml-record.ts';
import { XmlRecords } from './xml-records.ts';
import { XmlScanner, type XmlTag } from './xml-scanner.ts';
import { declaredEncoding } from './xml-text.ts';
import { cut, doubt } from './xml-tokens.ts';
import type { XmlValues } from './xml-values.ts';

interface XmlWalkOptions {
  readonly input: RecordInput;
  readonly encoding: string | undefined;
  readonly blockBytes: number | undefined;
  readonly wanted: string | undefined;
  readonly names: XmlNames;
  readonly places: XmlPlaces;
  /** Whether the first document may have no records. */
  readonly mayBeEmpty: boolean;
  /** Finds values outside the records. */
  readonly values?: XmlValues | undefined;
  /** A path's cell index; -1 if the path has no cell. */
  readonly slotOf: (path: string) => number;
  /** Number of cells in a row; 0 if records are only surveyed. */
  readonly width: number;
  /**
   * Called for each of a record's paths that may be new, in order of appearance. `isRepeated`: whether the path occurs
   * more than once in the record.
   */
  meet(path: string, isRepeated: boolean): void;
}

/** Maximum amount of text passed to the parser at once. */
const pieceBytes = 65_536;
/** Records larger than this are left to the parser, which doesn't need the whole record in memory. */
const maxHeld = 1024 * 1024;

/**
 * One pass over an XML document. The parser reads it up to the end of the first record; from there on, the scanner
 * reads records as bytes. If the scanner isn't certain, the parser continues to the end of a record. Yields whenever
 * rows must be consumed before their block is released.
 */
export class XmlWalk {
  readonly scanner: XmlScanner;
  /** Records in this batch that the parser read, by row. */
  readonly parsed = new Map<number, XmlRecord>();
  readonly #init: XmlWalkOptions;
  readonly #blocks: Blocks;
  readonly #parser: XmlRecords;
  #tag: XmlTag | undefined;
  #capacity = 256;
  #pos = 0;
  /**
   * Number of tags to pass to the parser the next time the scanner isn't certain; increases as long as the scanner
   * can't read any record.
   */
  #patience = 1;
  /** The records' element. It's also set while the parser reads. */
  #lastTag: XmlTag | undefined;
  #strides = 0;

  constructor(init: XmlWalkOptions) {
    const { input, encoding, blockBytes } = init;
    this.#init = init;
    const parts = this.#partsIn(outermost);
    this.scanner = new XmlScanner({ parts, width: init.width });
    this.#blocks = new Blocks(
      input,
      openUtf8(input, { format: 'xml', encoding: encoding ?? declaredEncoding }),
      blockBytes,
    );
    const { wanted, names, places, mayBeEmpty, values } = init;
    const take = (record: XmlRecord) => this.#take(record);
    this.#parser = new XmlRecords(input, { wanted, names, places, mayBeEmpty, values, take });
  }

  #partsIn(scope: XmlScope): XmlParts {
    const { slotOf, names, meet } = this.#init;
    const meetIn = (path: string) => {
      meet(path, false);
      return slotOf(path);
    };
    return new XmlParts(meetIn, names, scope);
  }

  /** Number of cells in a row. */
  get width(): number {
    return this.#init.width;
  }

  async *rows(): AsyncGenerator<void> {
    try {
      this.#begin();
      while (await this.#blocks.refill(this.#pos)) {
        this.#pos = 0;
        this.scanner.show(this.#blocks.bytes);
        while (this.#read()) yield* this.#hand();
        yield* this.#hand();
      }
      this.#parser.end();
    } finally {
      await this.#blocks.close();
    }
  }

  /** Continues reading the block. Returns true if the batch is full, or false if the block has ended. */
  #read(): boolean {
    const { bytes } = this.scanner;
    while (this.#pos < bytes.length) {
      if (this.scanner.rows >= this.#capacity) return true;
      const end = this.#tag === undefined ? doubt : this.scanner.record(this.#tag, this.#pos);
      if (end >= 0) this.#scanned(end);
      else if (end === cut && !this.#blocks.last && bytes.length - this.#pos < maxHeld) return false;
      else this.#parse();
    }
    return false;
  }

  #scanned(end: number): void {
    this.#pos = end;
    this.#patience = 1;
    this.#parser.line = this.scanner.line;
  }

  /** Passes some text to the parser, up to the end of a record if possible. */
  #parse(): void {
    const end = this.#tag === undefined ? this.#likelyEnd() : this.#afterTags(this.#patience);
    if (this.#tag !== undefined) this.#patience = Math.min(2 * this.#patience, 4096);
    this.#parser.write(this.scanner.bytes.toString('utf8', this.#pos, end));
    this.scanner.line = this.#parser.line;
    this.#pos = end;
    this.#tag = tagOf(this.#parser.next, this.#tag ?? this.#lastTag);
    if (this.#tag === undefined) return;
    const { scope } = this.#parser;
    if (scope !== this.scanner.parts.scope) {
      this.scanner.parts = this.#partsIn(scope);
    }
    this.#lastTag = this.#tag;
    this.#strides = 0;
  }

  /**
   * The position after a record's next end tag or, before the first record is found, after the next tag of any kind.
   */
  #likelyEnd(): number {
    const { bytes } = this.scanner;
    const close = this.#lastTag === undefined ? -1 : bytes.indexOf(this.#lastTag.close, this.#pos);
    const end = close + (this.#lastTag?.close.length ?? 0);
    // Pieces get larger until a record is found.
    return close > 0 && end - this.#pos < pieceBytes ? end : this.#afterTags(1 + (this.#strides++ >> 6));
  }

  #afterTags(tags: number): number {
    const { bytes } = this.scanner;
    let at = this.#pos;
    for (let i = 0; i < tags && at >= 0 && at - this.#pos < pieceBytes; i++) {
      const next = bytes.indexOf(62, at);
      at = next < 0 ? bytes.length : next + 1;
    }
    return at - this.#pos < pieceBytes ? at : wholeCharacters(bytes, this.#pos + pieceBytes);
  }

  #take(record: XmlRecord): void {
    for (const [path, value] of this.#init.width === 0 ? record : plainFirst(record)) {
      this.#init.meet(path, Array.isArray(value));
    }
    if (this.#init.width > 0) this.parsed.set(this.scanner.rows, record);
    this.scanner.lines[this.scanner.rows++] = this.#parser.line;
  }

  *#hand(): Generator<void> {
    if (this.scanner.rows === 0) return;
    const isFull = this.scanner.rows >= this.#capacity;
    yield;
    if (isFull) this.#capacity = Math.min(this.#capacity * 2, maxRows(this.#init.width));
    this.#begin();
  }

  #begin(): void {
    this.scanner.begin(this.#capacity);
    this.parsed.clear();
  }
}

/** A path that exactly matches a column's name takes precedence over a path with a prefix. */
function plainFirst(record: XmlRecord): XmlRecord | [string, XmlValue][] {
  const hasPrefix = ([path]: [string, unknown]) => path.includes(':');
  const all = [...record];
  return all.some(hasPrefix) ? [...all.filter((one) => !hasPrefix(one)), ...all.filter(hasPrefix)] : record;
}

function tagOf(name: string | undefined, known: XmlTag | undefined): XmlTag | undefined {
  if (name === undefined) return undefined;
  const bytes = Buffer.from(name);
  return known?.name.equals(bytes) ? known : { name: bytes, close: Buffer.from(`${name}>`) };
}

/** The piece's end, moved so that it isn't inside a character. */
function wholeCharacters(bytes: Buffer, wanted: number): number {
  let end = Math.min(wanted, bytes.length);
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return end;
}
