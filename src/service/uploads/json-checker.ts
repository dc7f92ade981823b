import type { CheckResult, FormatChecker } from '../../formats/format.ts';
import { HeldBytes } from '../../formats/held-bytes.ts';
import { invalid } from '../../formats/invalid.ts';
import { Utf8Gate } from '../../formats/utf8-gate.ts';
import type { Problem } from '../../lib/problem.ts';
import { JsonSyntaxScanner, maxDepth, TooManyKeys } from './json-syntax-scanner.ts';

/** The expected next token. */
const value = 0;
const valueOrEnd = 1;
const key = 2;
const keyOrEnd = 3;
const colon = 4;
const commaOrEnd = 5;

/**
 * Checks that a document is one JSON value according to RFC 8259. Uses the same scanner that reads JSON sources.
 * Rejects a byte order mark, as `JSON.parse` does. Table rows are scanned in one step, and everything else token by
 * token, so only an incomplete token has to be kept until the next chunk arrives.
 */
export class JsonChecker implements FormatChecker {
  readonly #gate = new Utf8Gate(
    (bytes) => this.#accept(bytes),
    () => this.#fault('a byte that is not UTF-8'),
  );
  readonly #scanner = new JsonSyntaxScanner();
  #expected = value;
  /** The brackets that are currently open: true for an object, false for an array. */
  readonly #open: boolean[] = [];
  #isArray = false;
  #items = 0;
  #hasTemplate = true;
  /** An incomplete token. */
  readonly #held = new HeldBytes();

  write(chunk: Uint8Array): void {
    this.#gate.write(chunk);
  }

  end(): CheckResult {
    this.#gate.end();
    this.#scanner.last = true;
    this.#scanHeld();
    const isWhole = this.#open.length === 0 && this.#held.length === 0;
    if (isWhole && this.#expected === value) throw this.#fault('the document is empty');
    if (!isWhole || this.#expected !== commaOrEnd) throw this.#fault('the document ends too early');
    return { records: this.#isArray ? this.#items : undefined };
  }

  /**
   * Returns an error whose position is just after the accepted bytes. If there is an earlier error, throws that error.
   */
  #fault(what: string): Problem {
    this.#scanHeld();
    const { lines, offset } = this.#scanner;
    return invalid('JSON', what, { line: lines + 1, byte: offset + this.#held.length });
  }

  #accept(bytes: Buffer): void {
    let rest = bytes;
    while (this.#held.length > 0 && rest.length > 0) {
      const held = this.#held.length;
      const taken = rest.subarray(0, this.#held.scanAt - held);
      this.#held.add(taken);
      if (this.#held.length < this.#held.scanAt) return;
      const end = this.#scanHeld();
      // The bytes after the held token are scanned without copying them.
      if (end > held) this.#held.clear();
      rest = rest.subarray(end > held ? end - held : taken.length);
    }
    if (rest.length > 0) this.#scan(rest);
  }

  #scanHeld(): number {
    return this.#scan(this.#held.take());
  }

  /**
   * Scans the bytes. If they end with an incomplete token, holds the token. Returns the position after the last
   * complete token.
   */
  #scan(bytes: Buffer): number {
    this.#scanner.show(bytes);
    const end = this.#tokens();
    this.#scanner.offset += end;
    this.#held.keep(bytes.subarray(end));
    return end;
  }

  #tokens(): number {
    for (let at = this.#scanner.space(0); ; at = this.#scanner.space(at)) {
      const byte = this.#scanner.bytes[at];
      const end = byte === undefined ? -1 : this.#token(byte, at);
      if (end < 0) return at;
      at = end;
    }
  }

  /** Returns the end of the token or rows that start at this position; -1 if they're incomplete. */
  #token(byte: number, at: number): number {
    switch (this.#expected) {
      case value:
        return this.#value(byte, at);
      case valueOrEnd:
        return byte === 0x5d ? this.#close(at) : this.#value(byte, at);
      case key:
        return this.#key(byte, at);
      case keyOrEnd:
        return byte === 0x7d ? this.#close(at) : this.#key(byte, at);
      case colon:
        if (byte !== 0x3a) return this.#scanner.refuse(at, "':'");
        this.#expected = value;
        return at + 1;
      default:
        return this.#behindValue(byte, at);
    }
  }

  #behindValue(byte: number, at: number): number {
    const isObject = this.#open.at(-1);
    if (isObject === undefined) throw this.#scanner.fault(at, 'more text after the value');
    if (byte === (isObject ? 0x7d : 0x5d)) return this.#close(at);
    if (byte !== 0x2c) return this.#scanner.refuse(at, isObject ? "',' or '}'" : "',' or ']'");
    this.#expected = isObject ? key : value;
    return at + 1;
  }

  #close(at: number): number {
    this.#open.pop();
    this.#expected = commaOrEnd;
    return at + 1;
  }

  #key(byte: number, at: number): number {
    if (byte !== 0x22) return this.#scanner.refuse(at, 'a key');
    const close = this.#scanner.string(at + 1);
    if (close < 0) return -1;
    this.#expected = colon;
    return close + 1;
  }

  #value(byte: number, at: number): number {
    const isObject = byte === 0x7b;
    if (!isObject && byte !== 0x5b) {
      if (byte === 0xef && this.#scanner.offset + at === 0) {
        throw this.#scanner.fault(0, 'a byte order mark, which JSON does not allow; send the text without it');
      }
      const end = this.#scanner.skip(at);
      if (end >= 0) this.#passed(1);
      return end;
    }
    const isRow = isObject && this.#hasTemplate && this.#open.at(-1) === false && this.#open.length < maxDepth;
    const end = isRow ? this.#rows(at) : -1;
    return end < 0 ? this.#begin(isObject, at) : end;
  }

  #passed(values: number): void {
    this.#expected = commaOrEnd;
    if (this.#open.length === 1) this.#items += values;
  }

  #begin(isObject: boolean, at: number): number {
    const depth = this.#open.push(isObject);
    if (depth > maxDepth) throw this.#scanner.tooDeep(at);
    if (depth === 1) this.#isArray = !isObject;
    if (depth === 2) this.#items++;
    this.#expected = isObject ? keyOrEnd : valueOrEnd;
    return at + 1;
  }

  /** Returns the end of the last complete row after this position; -1 if no row is complete. */
  #rows(start: number): number {
    const scanner = this.#scanner;
    const { lines, rows } = scanner;
    scanner.maxDepth = maxDepth - this.#open.length - 1;
    let end = -1;
    try {
      end = scanner.record(start);
    } catch (error) {
      if (!(error instanceof TooManyKeys)) throw error;
      this.#hasTemplate = false;
    }
    if (end < 0) scanner.lines = lines;
    else this.#passed(scanner.rows - rows);
    return end;
  }
}
