import type { ReplacedCharacters } from '../../lib/replaced-characters.ts';
import { parseExact } from '../service/exact-json.ts';
import { Blocks } from './blocks.ts';
import { maxRows } from './columns.ts';
import { openUtf8 } from './encoding.ts';
import { faultIn, type RecordInput, shorten } from './input.ts';
import type { JsonPaths } from './json-paths.ts';
import { JsonScanner } from './json-scanner.ts';
import type { RecordsShape } from './reader.ts';

interface JsonWalkOptions {
  readonly input: RecordInput;
  readonly format: string;
  readonly encoding: string | undefined;
  readonly blockBytes: number | undefined;
  readonly paths: JsonPaths;
  /** Path to the records: keys and indices, joined by dots. An empty path means the whole document. */
  readonly records: string;
  /** True if the input is a sequence of values rather than one document. */
  readonly lines: boolean;
  /** Cells per row; 0 only surveys. */
  readonly width: number;
  /** Paths of requested scalar values outside the records. */
  readonly wanted: readonly string[];
  /** Counts the lone surrogates in cells. */
  readonly replaced: ReplacedCharacters;
}

/**
 * One pass over a JSON document: down to the records, through them, and on to the end, so that truncation is detected.
 * Yields whenever the scanner's rows must be consumed before its block is replaced.
 */
export class JsonWalk {
  readonly scanner: JsonScanner;
  /** What the path to the records contains; undefined if the path doesn't exist. */
  shape: RecordsShape | undefined;
  /** The requested values that were found; numbers keep their digits. */
  readonly values = new Map<string, unknown>();
  readonly #init: JsonWalkOptions;
  readonly #blocks: Blocks;
  readonly #met: string[] = [];
  readonly #wanted: ReadonlySet<string>;
  /** Paths that lead to the records or to a requested value. */
  readonly #leading: ReadonlySet<string>;
  #pos = 0;
  #betweenItems = false;
  #capacity = 256;

  constructor(init: JsonWalkOptions) {
    this.#init = init;
    this.#wanted = new Set(init.wanted);
    this.#leading = new Set([init.records, ...init.wanted].flatMap(waysTo));
    this.scanner = new JsonScanner(init);
    this.#blocks = new Blocks(init.input, openUtf8(init.input, init), init.blockBytes);
  }

  async *rows(): AsyncGenerator<void> {
    try {
      this.#begin();
      yield* this.#init.lines ? this.#lines() : this.#document();
    } finally {
      await this.#blocks.close();
    }
  }

  async *#document(): AsyncGenerator<void> {
    yield* this.#value('');
    if ((await this.#peek()) !== -1) {
      const lines = 'if each line is a separate value, set `format: jsonl`';
      throw this.scanner.fault(this.#pos, 'there is more data after the end of the document', lines);
    }
    if (this.shape === undefined) throw this.#notFound();
  }

  async *#lines(): AsyncGenerator<void> {
    await this.#refuseList();
    for (;;) {
      while (this.#next()) {
        const end = this.scanner.record(this.#pos);
        if (end < 0) break;
        this.#pos = end;
      }
      const isFull = this.scanner.rows === this.#capacity;
      yield* this.#hand();
      if (isFull || (await this.#more())) continue;
      if ((await this.#peek()) === -1) return;
      throw this.#cutOff();
    }
  }

  /**
   * A line may contain a list of scalars. A list of objects is a JSON document, which would be read as a single row.
   */
  async #refuseList(): Promise<void> {
    if ((await this.#peek()) !== 91) return;
    for (let at = -1; ; ) {
      at = this.scanner.space(this.#pos + 1);
      const byte = this.scanner.bytes[at];
      if (byte === 123)
        throw this.scanner.fault(
          this.#pos,
          'the data is a list of objects, not one value per line',
          'set `format: json`',
        );
      if (byte !== undefined || !(await this.#more())) return;
    }
  }

  /** Whether another record may begin in this block, and the batch has a free row for it. */
  #next(): boolean {
    this.#pos = this.scanner.space(this.#pos);
    return this.scanner.rows < this.#capacity && this.#pos < this.scanner.bytes.length;
  }

  async *#value(path: string): AsyncGenerator<void> {
    if (path === this.#init.records) {
      if (this.shape !== undefined) throw this.#twice(path);
      return yield* this.#records();
    }
    const byte = await this.#peek();
    const isWanted = this.#wanted.has(path);
    if (this.#leading.has(path) && (byte === 123 || byte === 91)) {
      if (isWanted) this.values.set(path, byte === 123 ? { '…': true } : ['…']);
      return yield* this.#inside(path, true);
    }
    if (isWanted) return await this.#capture(path);
    await this.#skip();
  }

  /** Walks the relevant members of an object or items of an array, and skips the rest. */
  async *#inside(path: string, matters: boolean): AsyncGenerator<void> {
    const isObject = (await this.#peek()) === 123;
    const close = isObject ? 125 : 93;
    this.#pos++;
    if ((await this.#peek()) === close) return this.#step();
    for (let index = 0; ; index++) {
      const name = isObject ? await this.#key() : String(index);
      if (path === '' && matters && this.#met.length < 20) this.#met.push(name);
      if (matters) yield* this.#value(path === '' ? name : `${path}.${name}`);
      else await this.#skip();
      const byte = await this.#peek();
      if (byte === close) return this.#step();
      if (byte !== 44) throw await this.#unexpected("',' or the end");
      this.#pos++;
    }
  }

  #step(): void {
    this.#pos++;
  }

  async #key(): Promise<string> {
    if ((await this.#peek()) !== 34) throw await this.#unexpected('a key');
    const [start, end] = await this.#token();
    const text = this.scanner.bytes.toString('utf8', start, end);
    if ((await this.#peek()) !== 58) throw await this.#unexpected("':'");
    this.#pos++;
    return JSON.parse(text) as string;
  }

  async #token(): Promise<[number, number]> {
    await this.#peek();
    for (;;) {
      const start = this.#pos;
      const end = this.scanner.skip(start);
      if (end >= 0) {
        this.#pos = end;
        return [start, end];
      }
      if (!(await this.#more())) throw this.#cutOff();
    }
  }

  /** Stores a value. If a list or object doesn't fit into the block, stores only its kind. */
  async #capture(path: string): Promise<void> {
    if (this.values.has(path)) throw this.#twice(path);
    const byte = await this.#peek();
    const isContainer = byte === 123 || byte === 91;
    if (isContainer && this.scanner.skip(this.#pos) < 0) {
      this.values.set(path, byte === 123 ? { '…': true } : ['…']);
      return await this.#skip();
    }
    const [start, end] = await this.#token();
    this.values.set(path, parseExact(this.scanner.bytes.toString('utf8', start, end)));
  }

  async #skip(): Promise<void> {
    const byte = await this.#peek();
    const end = this.scanner.skip(this.#pos);
    if (end >= 0) this.#pos = end;
    else if (byte !== 123 && byte !== 91) await this.#token();
    else for await (const _ of this.#inside('', false));
  }

  async *#records(): AsyncGenerator<void> {
    const byte = await this.#peek();
    this.shape = byte === 110 ? 'null' : byte === 91 ? 'list' : 'single';
    if (byte === 110) return void (await this.#token());
    if (byte === 91) return yield* this.#array();
    for (let end = -1; end < 0; ) {
      end = this.scanner.record(this.#pos);
      if (end >= 0) this.#pos = end;
      else if (!(await this.#more())) throw this.#cutOff();
    }
    yield* this.#hand();
  }

  async *#array(): AsyncGenerator<void> {
    this.#pos++;
    if ((await this.#peek()) === 93) return this.#step();
    for (let isOpen = true; isOpen; ) {
      isOpen = this.#scanArray();
      const isFull = this.scanner.rows === this.#capacity;
      yield* this.#hand();
      if (isOpen && !isFull && !(await this.#more())) throw this.#cutOff();
    }
  }

  /** Continues reading the current array. Returns whether the block or the batch ended before the array did. */
  #scanArray(): boolean {
    while (this.#next()) {
      if (this.#betweenItems) {
        const byte = this.scanner.bytes[this.#pos];
        if (byte !== 44 && byte !== 93) throw this.scanner.fault(this.#pos, "expected ',' or ']'");
        this.#pos++;
        this.#betweenItems = false;
        if (byte === 93) return false;
        continue;
      }
      const end = this.scanner.record(this.#pos);
      if (end < 0) return true;
      this.#pos = end;
      this.#betweenItems = true;
    }
    return true;
  }

  async *#hand(): AsyncGenerator<void> {
    if (this.scanner.rows === 0) return;
    const isFull = this.scanner.rows === this.#capacity;
    yield;
    if (isFull) this.#capacity = Math.min(this.#capacity * 2, maxRows(this.#init.width));
    this.#begin();
  }

  #begin(): void {
    this.scanner.begin(this.#init.width, this.#capacity);
  }

  /** The next byte that isn't white space; -1 at the end of the input. */
  async #peek(): Promise<number> {
    for (;;) {
      this.#pos = this.scanner.space(this.#pos);
      const byte = this.scanner.bytes[this.#pos];
      if (byte !== undefined) return byte;
      if (!(await this.#more())) return -1;
    }
  }

  async #more(): Promise<boolean> {
    const hasMore = await this.#blocks.refill(this.#pos);
    if (hasMore) this.#pos = 0;
    this.scanner.show(this.#blocks.bytes);
    this.scanner.last = this.#blocks.last;
    this.scanner.offset = this.#blocks.offset;
    return hasMore;
  }

  async #unexpected(expected: string): Promise<Error> {
    return (await this.#peek()) === -1 ? this.#cutOff() : this.scanner.fault(this.#pos, `expected ${expected}`);
  }

  #cutOff() {
    return faultIn(this.#init.input, {
      code: 'JSON_TRUNCATED',
      message: 'the JSON ends in the middle of a value: the data is truncated',
      next: 'fetch or write the data again',
    });
  }

  #twice(path: string) {
    return this.scanner.fault(this.#pos, `duplicate key ${JSON.stringify(path)} in the document`);
  }

  #notFound() {
    return faultIn(this.#init.input, {
      code: 'RECORDS_NOT_FOUND',
      message: `the data has no records at this path`,
      seen: this.#init.records,
      allowed: shorten(this.#met.join(', ') || 'the document itself', 400),
      next: 'set `records` to the path of the records (keys joined by dots)',
    });
  }
}

/** The given path and all its parents, starting at the root. */
function waysTo(path: string): string[] {
  const keys = path.split('.');
  return keys.map((_, i) => keys.slice(0, i).join('.'));
}
