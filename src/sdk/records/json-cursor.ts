import type { Problem } from '../../lib/problem.ts';
import { Blocks } from './blocks.ts';
import { openUtf8 } from './encoding.ts';
import { faultIn, type RecordInput } from './input.ts';
import { nanAsNull } from './json-nan.ts';
import type { JsonScanner } from './json-scanner.ts';

interface JsonCursorOptions {
  readonly input: RecordInput;
  readonly format: string;
  readonly encoding: string | undefined;
  readonly allow_nan: boolean;
  readonly blockBytes: number | undefined;
  readonly scanner: JsonScanner;
  /** Called before the scanner's block is replaced. */
  readonly leave: () => void;
}

/** A value that is larger than this is skipped rather than kept. */
const maxKept = 1024 * 1024;

/** A position in a JSON document of any size, which is read block by block. */
export class JsonCursor {
  /** Position in the scanner's block. */
  pos = 0;
  readonly #options: JsonCursorOptions;
  readonly #scanner: JsonScanner;
  readonly #blocks: Blocks;

  constructor(options: JsonCursorOptions) {
    this.#options = options;
    this.#scanner = options.scanner;
    const text = openUtf8(options.input, options);
    this.#blocks = new Blocks(options.input, options.allow_nan ? nanAsNull(text) : text, options.blockBytes);
  }

  /** Closes the input, even before it ends. */
  close(): Promise<void> {
    return this.#blocks.close();
  }

  /** The next byte that isn't white space; -1 at the end of the input. */
  async peek(): Promise<number> {
    for (;;) {
      this.pos = this.#scanner.space(this.pos);
      const byte = this.#scanner.bytes[this.pos];
      if (byte !== undefined) return byte;
      if (!(await this.more())) return -1;
    }
  }

  /** Reads another block, which starts with the bytes from the position on. Returns false at the end of the input. */
  async more(): Promise<boolean> {
    this.#options.leave();
    const hasMore = await this.#blocks.refill(this.pos);
    if (hasMore) this.pos = 0;
    this.#scanner.show(this.#blocks.bytes);
    this.#scanner.last = this.#blocks.last;
    this.#scanner.offset = this.#blocks.offset;
    return hasMore;
  }

  /** Reads a key and its colon. */
  async key(): Promise<string> {
    if ((await this.peek()) !== 34) throw await this.unexpected('a key');
    const text = await this.token();
    if ((await this.peek()) !== 58) throw await this.unexpected("':'");
    this.pos++;
    return JSON.parse(text) as string;
  }

  /** Reads a whole value. */
  async token(): Promise<string> {
    await this.peek();
    for (;;) {
      const start = this.pos;
      const end = this.#scanner.skip(start);
      if (end >= 0) {
        this.pos = end;
        return this.#scanner.bytes.toString('utf8', start, end);
      }
      if (!(await this.more())) throw this.cutOff();
    }
  }

  /** Reads a whole value, unless it's too large to keep; then, nothing is read, and the result is undefined. */
  async kept(): Promise<string | undefined> {
    await this.peek();
    while (this.#scanner.skip(this.pos) < 0) {
      if (this.#scanner.bytes.length - this.pos > maxKept) return undefined;
      if (!(await this.more())) throw this.cutOff();
    }
    return this.token();
  }

  /** Skips a value of any size. */
  async skip(): Promise<void> {
    const byte = await this.peek();
    const end = this.#scanner.skip(this.pos);
    if (end >= 0) this.pos = end;
    else if (byte === 123 || byte === 91) await this.#skipInside(byte === 123);
    else await this.token();
  }

  /** Reads the comma after a member or item. Returns false if the object or list ends instead. */
  async comma(close: number): Promise<boolean> {
    const byte = await this.peek();
    if (byte !== close && byte !== 44) throw await this.unexpected("',' or the end");
    this.pos++;
    return byte === 44;
  }

  /** Enters the object or list at the position. Returns false, after leaving it, if it's empty. */
  async enter(close: number): Promise<boolean> {
    this.pos++;
    if ((await this.peek()) !== close) return true;
    this.pos++;
    return false;
  }

  async #skipInside(isObject: boolean): Promise<void> {
    const close = isObject ? 125 : 93;
    let isOpen = await this.enter(close);
    while (isOpen) {
      if (isObject) await this.key();
      await this.skip();
      isOpen = await this.comma(close);
    }
  }

  /** The problem for a byte that can't be at the position. */
  async unexpected(expected: string): Promise<Problem> {
    return (await this.peek()) === -1 ? this.cutOff() : this.#scanner.fault(this.pos, `expected ${expected}`);
  }

  /** The problem if the document ends in the middle of a value. */
  cutOff(): Problem {
    return faultIn(this.#options.input, {
      code: 'JSON_TRUNCATED',
      message: 'the JSON ends in the middle of a value: the data is truncated',
      next: 'fetch or write the data again',
    });
  }
}
