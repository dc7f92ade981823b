import type { Problem } from '../lib/problem.ts';
import { invalid } from './invalid.ts';
import {
  afterValue,
  colon,
  escaped,
  inString,
  integer,
  isInNumber,
  key,
  keyOrEnd,
  minus,
  nextInNumber,
  unicode,
  value,
  valueOrEnd,
  word,
  wrong,
  zero,
} from './json-states.ts';
import { escapable, isDigit, isHex, isSpace, words } from './json-tokens.ts';

/** Deeper documents are refused: a reader that recurses would run out of stack on them. */
export const maxDepth = 1000;

/**
 * Where a reader of one JSON value stands, and the rules byte by byte: whatever is read at once, what is cut or wrong is
 * judged here. Remembers one bit for each open bracket.
 */
export class JsonSteps {
  state = value;
  /** For each depth whether an object is open there. */
  readonly objects = new Uint8Array(maxDepth + 1);
  depth = 0;
  #isKey = false;
  #hexLeft = 0;
  #word = '';
  #wordAt = 0;
  /** The outermost value is an array. */
  array = false;
  /** Its items so far. */
  items = 0;
  line = 1;
  /** Bytes accepted before the chunk at hand. */
  byte = 0;

  /** What must come behind a comma at a depth; nothing may at the outermost. */
  afterComma(depth: number): number {
    if (depth === 0) return wrong;
    return this.objects[depth] === 1 ? key : value;
  }

  /** One more byte, at an offset of the bytes at hand; throws when it is wrong. */
  step(byte: number, p: number): void {
    switch (this.state) {
      case inString:
        if (byte === 0x22) this.state = this.#isKey ? colon : afterValue;
        else if (byte === 0x5c) this.state = escaped;
        else throw this.invalid(p, 'a control character inside a string');
        return;
      case escaped:
        this.#escaped(byte, p);
        return;
      case unicode:
        if (!isHex(byte)) throw this.invalid(p, 'a \\u without four hexadecimal digits');
        if (--this.#hexLeft === 0) this.state = inString;
        return;
      case word:
        if (byte !== this.#word.charCodeAt(this.#wordAt)) throw this.#unexpected(byte, p);
        if (++this.#wordAt === this.#word.length) this.state = afterValue;
        return;
    }
    if (isInNumber(this.state)) {
      this.state = nextInNumber(this.state, byte);
      if (this.state === wrong) throw this.invalid(p, 'a number that JSON does not have');
      if (this.state !== afterValue) return;
    }
    if (isSpace(byte)) {
      if (byte === 0x0a) this.line++;
    } else this.#token(byte, p);
  }

  #escaped(byte: number, p: number): void {
    this.state = inString;
    if (byte === 0x75) {
      this.state = unicode;
      this.#hexLeft = 4;
    } else if (escapable[byte] !== 1) throw this.invalid(p, 'an escape that JSON does not have');
  }

  /** A byte between tokens that is no white space. */
  #token(byte: number, p: number): void {
    switch (this.state) {
      case value:
        this.#value(byte, p);
        return;
      case valueOrEnd:
        if (byte === 0x5d) this.#close(byte, p);
        else this.#value(byte, p);
        return;
      case keyOrEnd:
        if (byte === 0x7d) this.#close(byte, p);
        else this.#key(byte, p);
        return;
      case key:
        this.#key(byte, p);
        return;
      case colon:
        if (byte !== 0x3a) throw this.#unexpected(byte, p);
        this.state = value;
        return;
      default:
        this.#afterValue(byte, p);
    }
  }

  #afterValue(byte: number, p: number): void {
    if (this.depth === 0) throw this.invalid(p, 'more text after the value');
    if (byte !== 0x2c) this.#close(byte, p);
    else this.state = this.afterComma(this.depth);
  }

  #key(byte: number, p: number): void {
    if (byte !== 0x22) throw this.#unexpected(byte, p);
    this.#isKey = true;
    this.state = inString;
  }

  #value(byte: number, p: number): void {
    if (this.depth === 1 && this.array) this.items++;
    if (byte === 0x22) {
      this.#isKey = false;
      this.state = inString;
    } else if (byte === 0x7b || byte === 0x5b) this.#open(byte, p);
    else if (byte === 0x2d) this.state = minus;
    else if (isDigit(byte)) this.state = byte === 0x30 ? zero : integer;
    else this.#beginWord(byte, p);
  }

  #beginWord(byte: number, p: number): void {
    const known = words[byte];
    if (known === undefined) throw this.#unexpected(byte, p);
    this.#word = known;
    this.#wordAt = 1;
    this.state = word;
  }

  #open(byte: number, p: number): void {
    if (this.depth === maxDepth) throw this.invalid(p, `more than ${maxDepth} open brackets`);
    const object = byte === 0x7b;
    if (this.depth === 0) this.array = !object;
    this.objects[++this.depth] = object ? 1 : 0;
    this.state = object ? keyOrEnd : valueOrEnd;
  }

  #close(byte: number, p: number): void {
    const wanted = this.objects[this.depth] === 1 ? 0x7d : 0x5d;
    if (byte !== wanted) throw this.#unexpected(byte, p);
    this.depth--;
    this.state = afterValue;
  }

  #unexpected(byte: number, p: number): Problem {
    const shown = byte > 0x20 && byte < 0x7f ? `an unexpected ${String.fromCharCode(byte)}` : 'an unexpected character';
    return this.invalid(p, shown);
  }

  invalid(offset: number, what: string): Problem {
    return invalid('JSON', what, { line: this.line, byte: this.byte + offset });
  }
}
