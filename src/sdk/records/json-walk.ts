import type { ReplacedCharacters } from '../../lib/replaced-characters.ts';
import { parsePath, type Step } from '../places/path-syntax.ts';
import type { Place } from '../places/place.ts';
import { PlaceFinder, type PlaceState, tooLargeToKeep } from '../places/place-finder.ts';
import { parseExact } from '../service/exact-json.ts';
import { maxRows } from './columns.ts';
import { faultIn, type RecordInput, shorten } from './input.ts';
import { JsonCursor } from './json-cursor.ts';
import type { JsonPaths } from './json-paths.ts';
import { JsonScanner } from './json-scanner.ts';
import type { RecordsShape } from './reader.ts';

interface JsonWalkOptions {
  readonly input: RecordInput;
  readonly format: string;
  readonly encoding: string | undefined;
  readonly allow_nan: boolean;
  readonly blockBytes: number | undefined;
  readonly paths: JsonPaths;
  /** Path to the records. An empty path means the whole document. */
  readonly records: string;
  /** True if the input is a sequence of values rather than one document. */
  readonly lines: boolean;
  /** Cells per row; 0 only surveys. */
  readonly width: number;
  /** Places of requested values. */
  readonly wanted: readonly Place[];
  /** Whether the members' names are needed if the records are an object's members. */
  readonly isKeyed: boolean;
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
  /** Finds the requested values; numbers keep their digits. */
  readonly finder: PlaceFinder;
  /** Names of the members whose values are this batch's records; null for items of a list. */
  readonly keys: (string | null)[] = [];
  readonly #init: JsonWalkOptions;
  readonly #cursor: JsonCursor;
  readonly #steps: readonly Step[];
  readonly #wantsLast: boolean;
  /** The last record in this block, and the last one in earlier blocks. */
  #last: readonly [start: number, end: number] | undefined;
  #lastText: string | undefined;
  /** Whether `*` in the path to the records has been applied to anything, and to anything that isn't empty. */
  #isSpread = false;
  #isSpreadOver = false;
  #key: string | null = null;
  #betweenItems = false;
  #capacity = 256;

  constructor(init: JsonWalkOptions) {
    this.#init = init;
    this.#steps = init.lines ? [] : parsePath(init.records);
    const records: Place = { text: '', from: 'body', steps: this.#steps };
    this.finder = new PlaceFinder([records, ...init.wanted]);
    this.#wantsLast = this.finder.wantsLastRecord;
    this.scanner = new JsonScanner(init);
    this.#cursor = new JsonCursor({ ...init, scanner: this.scanner, leave: () => this.#keepLast() });
  }

  async *rows(): AsyncGenerator<void> {
    try {
      this.#begin();
      yield* this.#init.lines ? this.#lines() : this.#document();
      this.#keepLast();
      if (this.#lastText !== undefined) this.finder.takeLastRecord(parseExact(this.#lastText));
      this.finder.end();
    } finally {
      await this.#cursor.close();
    }
  }

  async *#document(): AsyncGenerator<void> {
    yield* this.#value('', this.finder.start());
    if ((await this.#cursor.peek()) !== -1) {
      const lines = 'if each line is a separate value, set `format: jsonl`';
      throw this.scanner.fault(this.#cursor.pos, 'there is more data after the end of the document', lines);
    }
    if (this.shape === undefined && this.#isSpread && !this.#isSpreadOver) this.shape = 'list';
    if (this.shape === undefined) throw this.#notFound();
  }

  async *#lines(): AsyncGenerator<void> {
    await this.#refuseList();
    for (;;) {
      while (this.#next() && this.#record());
      const isFull = this.scanner.rows === this.#capacity;
      yield* this.#hand();
      if (isFull || (await this.#cursor.more())) continue;
      if ((await this.#cursor.peek()) === -1) return;
      throw this.#cursor.cutOff();
    }
  }

  /**
   * A line may contain a list of scalars. A list of objects is a JSON document, which would be read as a single row.
   */
  async #refuseList(): Promise<void> {
    const cursor = this.#cursor;
    if ((await cursor.peek()) !== 91) return;
    for (let at = -1; ; ) {
      at = this.scanner.space(cursor.pos + 1);
      const byte = this.scanner.bytes[at];
      if (byte === 123)
        throw this.scanner.fault(
          cursor.pos,
          'the data is a list of objects, not one value per line',
          'set `format: json`',
        );
      if (byte !== undefined || !(await cursor.more())) return;
    }
  }

  /** Whether another record may begin in this block, and the batch has a free row for it. */
  #next(): boolean {
    this.#cursor.pos = this.scanner.space(this.#cursor.pos);
    return this.scanner.rows < this.#capacity && this.#cursor.pos < this.scanner.bytes.length;
  }

  /** Reads the record at the position. Returns false if the block ends first. */
  #record(start = this.#cursor.pos): boolean {
    const end = this.scanner.record(start);
    if (end < 0) return false;
    this.#cursor.pos = end;
    if (this.#wantsLast) this.#last = [this.scanner.lastStart, end];
    return true;
  }

  async *#value(path: string, states: readonly PlaceState[]): AsyncGenerator<void> {
    const { finder } = this;
    const records = states.find(({ place }) => place === 0);
    if (records !== undefined && finder.isDone(records)) {
      if (this.shape !== undefined && !this.#isSpread) throw this.#twice(path);
      return yield* this.#records();
    }
    const byte = await this.#cursor.peek();
    const isContainer = byte === 123 || byte === 91;
    const done = states.filter((state) => finder.isDone(state));
    const isWhole = done.length > 0 || (isContainer && states.some((state) => finder.isSelecting(state)));
    if (isWhole && (records === undefined || !isContainer)) {
      const text = await this.#cursor.kept();
      if (text !== undefined) return this.#taken(finder.take(states, parseExact(text)));
    }
    if (states.length === 0 || !isContainer) return await this.#cursor.skip();
    if (done.length > 0) this.#taken(finder.take(done, byte === 123 ? tooLargeToKeep.object : tooLargeToKeep.list));
    if (records === undefined || !finder.isEachOfLast(records)) return yield* this.#inside(path, states);
    this.shape ??= 'list';
    yield* byte === 91 ? this.#array() : this.#members();
  }

  #taken(twice: string | undefined): void {
    if (twice !== undefined) throw this.#twice(twice);
  }

  /** Walks the relevant members of an object or items of an array, and skips the rest. */
  async *#inside(path: string, states: readonly PlaceState[]): AsyncGenerator<void> {
    const { finder } = this;
    const cursor = this.#cursor;
    const isObject = (await cursor.peek()) === 123;
    const close = isObject ? 125 : 93;
    const isEach = states.some((state) => state.place === 0 && finder.step(state) === '*');
    const isSelecting = !isObject && states.some((state) => finder.isSelecting(state));
    this.#isSpread ||= isEach;
    let isOpen = await cursor.enter(close);
    this.#isSpreadOver ||= isEach && isOpen;
    for (let index = 0; isOpen; index++) {
      const name = isObject ? await cursor.key() : String(index);
      if (isObject) finder.meet(path, name);
      if (isEach && isObject) this.#key = name;
      const inner = finder.inside(states, name);
      if (isSelecting && !inner.some(({ place }) => place === 0)) {
        const item = parseExact(await cursor.token());
        finder.takeItem(states, item);
        this.#taken(finder.take(inner, item));
      } else yield* this.#value(path === '' ? name : `${path}.${name}`, inner);
      isOpen = await cursor.comma(close);
    }
  }

  async *#records(): AsyncGenerator<void> {
    const byte = await this.#cursor.peek();
    const shape = byte === 110 ? 'null' : byte === 91 ? 'list' : 'single';
    if (!this.#isSpread) this.shape = shape;
    else if (this.shape !== 'null') this.shape = shape === 'null' ? shape : 'list';
    if (byte === 110) return void (await this.#cursor.token());
    if (byte === 91) return yield* this.#array();
    while (!this.#record()) if (!(await this.#cursor.more())) throw this.#cursor.cutOff();
    yield* this.#hand();
  }

  /** Reads the items of the list at the position. */
  async *#array(): AsyncGenerator<void> {
    if (await this.#cursor.enter(93)) yield* this.#all(() => this.#scanArray());
  }

  /** Reads the values of the members of the object at the position. */
  async *#members(): AsyncGenerator<void> {
    if (await this.#cursor.enter(125)) yield* this.#all(() => this.#scanMembers());
  }

  /** @param scan continues reading, and returns whether the block or the batch ended before the list did. */
  async *#all(scan: () => boolean): AsyncGenerator<void> {
    for (let isOpen = true; isOpen; ) {
      isOpen = scan();
      const isFull = this.scanner.rows === this.#capacity;
      yield* this.#hand();
      if (isOpen && !isFull && !(await this.#cursor.more())) throw this.#cursor.cutOff();
    }
  }

  #scanArray(): boolean {
    while (this.#next()) {
      if (!this.#betweenItems) {
        if (!this.#record()) return true;
        this.#betweenItems = true;
      } else if (!this.#pass(93)) return false;
    }
    return true;
  }

  #scanMembers(): boolean {
    const { scanner } = this;
    while (this.#next()) {
      if (this.#betweenItems) {
        if (!this.#pass(125)) return false;
        continue;
      }
      const start = this.#cursor.pos;
      if (scanner.bytes[start] !== 34) throw scanner.fault(start, 'expected a key');
      const close = scanner.string(start + 1);
      const colon = close < 0 ? -1 : scanner.space(close + 1);
      if (colon < 0 || colon >= scanner.bytes.length) return true;
      if (scanner.bytes[colon] !== 58) throw scanner.fault(colon, "expected ':'");
      const value = scanner.space(colon + 1);
      if (value >= scanner.bytes.length || !this.#record(value)) return true;
      this.#key = JSON.parse(scanner.bytes.toString('utf8', start, close + 1)) as string;
      this.#nameRows();
      this.#betweenItems = true;
    }
    return true;
  }

  /** Passes a comma. Returns false if the list or object ends instead. */
  #pass(close: number): boolean {
    const byte = this.scanner.bytes[this.#cursor.pos];
    if (byte !== 44 && byte !== close)
      throw this.scanner.fault(this.#cursor.pos, `expected ',' or '${close === 93 ? ']' : '}'}'`);
    this.#cursor.pos++;
    this.#betweenItems = false;
    return byte === 44;
  }

  #nameRows(): void {
    if (this.#init.isKeyed) while (this.keys.length < this.scanner.rows) this.keys.push(this.#key);
  }

  async *#hand(): AsyncGenerator<void> {
    if (this.scanner.rows === 0) return;
    this.#nameRows();
    const isFull = this.scanner.rows === this.#capacity;
    yield;
    if (isFull) this.#capacity = Math.min(this.#capacity * 2, maxRows(this.#init.width));
    this.#begin();
  }

  #begin(): void {
    this.scanner.begin(this.#init.width, this.#capacity);
    this.keys.length = 0;
  }

  /** Keeps the last record beyond its block. */
  #keepLast(): void {
    if (this.#last !== undefined) this.#lastText = this.scanner.bytes.toString('utf8', ...this.#last);
    this.#last = undefined;
  }

  #twice(path: string) {
    return this.scanner.fault(this.#cursor.pos, `duplicate key ${JSON.stringify(path)} in the document`);
  }

  #notFound() {
    const { records, input } = this.#init;
    return faultIn(input, {
      code: 'RECORDS_NOT_FOUND',
      message: `the data has no records at this path`,
      seen: records,
      allowed: shorten(this.finder.nearby(records) ?? 'the document itself', 400),
      next: 'set `records` to the path of the records, such as `data.items`',
    });
  }
}
