import type { Problem } from '../lib/problem.ts';
import { first, same } from './four-bytes.ts';
import { invalid, type Spot } from './invalid.ts';
import { JsonRefrain } from './json-refrain.ts';
import {
  endsRun,
  endsRunIn,
  escapable,
  isDigit,
  isE,
  isHex,
  isSpace,
  scalarEnd,
  stringEnd,
  unsure,
  valueEnd,
  words,
} from './json-tokens.ts';

/** Deeper documents are refused: a reader that recurses would run out of stack on them. */
const deepest = 1000;

/** Where the scanner stands between two bytes. */
const value = 0;
const valueOrEnd = 1;
const keyOrEnd = 2;
const key = 3;
const colon = 4;
const afterValue = 5;
const inString = 6;
const escaped = 7;
const unicode = 8;
const word = 9;
const minus = 10;
const zero = 11;
const integer = 12;
const point = 13;
const fraction = 14;
const exponent = 15;
const exponentSign = 16;
const exponentDigits = 17;
const firstOfNumber = minus;
const wrong = -1;

/** The state after one more byte of a number: `afterValue` when it ended before this byte, or `wrong`. */
function nextInNumber(state: number, byte: number): number {
  const digit = isDigit(byte);
  switch (state) {
    case minus:
      return digit ? (byte === 0x30 ? zero : integer) : wrong;
    case zero:
    case integer:
      if (digit) return state === integer ? integer : wrong;
      if (byte === 0x2e) return point;
      return isE(byte) ? exponent : afterValue;
    case point:
      return digit ? fraction : wrong;
    case fraction:
      if (digit) return fraction;
      return isE(byte) ? exponent : afterValue;
    case exponent:
      if (byte === 0x2b || byte === 0x2d) return exponentSign;
      return digit ? exponentDigits : wrong;
    case exponentSign:
      return digit ? exponentDigits : wrong;
    default:
      return digit ? exponentDigits : afterValue;
  }
}

/**
 * Scans one JSON value and throws at the first fault: whole tokens as long as they are right, and byte by byte what is
 * cut or wrong. Remembers one bit for each open bracket.
 */
export class JsonScanner {
  #state = value;
  /** For each depth whether an object is open there. */
  readonly #objects = new Uint8Array(deepest + 1);
  readonly #refrain = new JsonRefrain();
  #depth = 0;
  #isKey = false;
  #hexLeft = 0;
  #word = '';
  #wordAt = 0;
  #array = false;
  #items = 0;
  #line = 1;
  /** Bytes accepted before the chunk at hand. */
  #byte = 0;

  accept(bytes: Buffer): void {
    const { length } = bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    for (let p = 0; p < length; p++) {
      if (this.#state <= afterValue) p = this.#tokens(bytes, view, p);
      if (p === length) break;
      let byte = bytes[p]!;
      if (this.#state === inString) {
        while (endsRun[byte] === 0 && ++p < length) byte = bytes[p]!;
        if (p === length) break;
      }
      this.#step(byte, p);
    }
    this.#byte += length;
  }

  /** Items of the outermost array; undefined when the value is no array. */
  end(): number | undefined {
    if (this.#state >= firstOfNumber) this.#state = nextInNumber(this.#state, 0x20);
    if (this.#state === value && this.#depth === 0) throw this.#invalid(0, 'the document is empty');
    if (this.#state !== afterValue || this.#depth > 0) throw this.#invalid(0, 'the document ends too early');
    return this.#array ? this.#items : undefined;
  }

  /** Just after what was accepted so far. */
  spot(): Spot {
    return { line: this.#line, byte: this.#byte };
  }

  /**
   * Passes white space and whole tokens, brackets too but for the outermost; returns where something else stands, which
   * is for the steps.
   */
  #tokens(bytes: Buffer, view: DataView, start: number): number {
    const { length } = bytes;
    const lastFour = length - 4;
    const objects = this.#objects;
    let depth = this.#depth;
    let state = this.#state;
    let afterComma = this.#afterComma(depth);
    const refrain = this.#refrain;
    refrain.forget();
    let items = 0;
    let isFirst = false;
    let lastEnd = start;
    let p = start;
    for (let end = p; p < length; p = end) {
      const byte = bytes[p]!;
      end = p + 1;
      if (byte <= 0x20) {
        if (!isSpace(byte)) break;
        if (byte === 0x0a) this.#line++;
        continue;
      }
      const isInRow = depth === 2 && afterComma === key;
      if (isInRow && state === value && byte !== 0x7b && byte !== 0x5b) {
        refrain.between(lastEnd, p, this.#line);
        if (isFirst && refrain.first(items, this.#line)) {
          end = this.#recite(bytes, view, p);
          state = this.#state;
          refrain.forget();
          isFirst = false;
          continue;
        }
        isFirst = false;
      }
      if (byte === 0x22) {
        if (state > key) break;
        // Here and not in a function of its own: most strings are shorter than the way there and back.
        for (; end <= lastFour; end += 4) {
          const found = endsRunIn(view.getInt32(end, true));
          if (found === 0) continue;
          end += first(found);
          break;
        }
        end = end < length && bytes[end] === 0x22 ? end + 1 : stringEnd(bytes, view, end);
        if (end === unsure) break;
        const isKey = state >= keyOrEnd;
        if (!isKey) {
          if (depth === 1) items++;
          if (isInRow) lastEnd = end;
        }
        state = isKey ? colon : afterValue;
        if (bytes[end] === (isKey ? 0x3a : 0x2c) && depth > 0) {
          state = isKey ? value : afterComma;
          end++;
        }
      } else if (state <= valueOrEnd) {
        if (byte !== 0x7b && byte !== 0x5b) end = valueEnd(bytes, view, p);
        else {
          if (depth === 0 || depth === deepest) break;
          if (depth === 1) items++;
          afterComma = byte === 0x7b ? key : value;
          state = byte === 0x7b ? keyOrEnd : valueOrEnd;
          objects[++depth] = byte === 0x7b ? 1 : 0;
          if (depth === 2) isFirst = true;
          continue;
        }
        if (end === unsure) break;
        if (depth === 1) items++;
        if (isInRow) lastEnd = end;
        state = afterValue;
        if (bytes[end] === 0x2c && depth > 0) {
          state = afterComma;
          end++;
        }
      } else if (state <= colon) {
        if (byte !== 0x3a || state !== colon) break;
        state = value;
      } else {
        if (depth === 0) break;
        if (byte === 0x2c) state = afterComma;
        else {
          if (byte !== (afterComma === key ? 0x7d : 0x5d)) break;
          depth--;
          afterComma = this.#afterComma(depth);
        }
      }
    }
    this.#state = state;
    this.#depth = depth;
    if (this.#array) this.#items += items;
    return p;
  }

  /**
   * Goes on from the first value of a row, in that and in those behind it, as long as they are like the one before;
   * returns where something else stands.
   */
  #recite(bytes: Buffer, view: DataView, start: number): number {
    const { starts, lengths, lines, columns } = this.#refrain;
    let rows = 0;
    let at = start;
    this.#state = value;
    for (let c = 0; ; ) {
      const end = scalarEnd(bytes, view, at);
      if (end === unsure) break;
      at = end;
      const length = lengths[c]!;
      if (at + length > bytes.length || !same(view, starts[c]!, at, length)) {
        this.#state = afterValue;
        break;
      }
      at += length;
      this.#line += lines[c]!;
      if (++c === columns) {
        c = 0;
        rows++;
      }
    }
    if (this.#array) this.#items += rows;
    return at;
  }

  /** What must come behind a comma at a depth; nothing may at the outermost. */
  #afterComma(depth: number): number {
    if (depth === 0) return wrong;
    return this.#objects[depth] === 1 ? key : value;
  }

  #step(byte: number, p: number): void {
    switch (this.#state) {
      case inString:
        if (byte === 0x22) this.#state = this.#isKey ? colon : afterValue;
        else if (byte === 0x5c) this.#state = escaped;
        else throw this.#invalid(p, 'a control character inside a string');
        return;
      case escaped:
        this.#escaped(byte, p);
        return;
      case unicode:
        if (!isHex(byte)) throw this.#invalid(p, 'a \\u without four hexadecimal digits');
        if (--this.#hexLeft === 0) this.#state = inString;
        return;
      case word:
        if (byte !== this.#word.charCodeAt(this.#wordAt)) throw this.#unexpected(byte, p);
        if (++this.#wordAt === this.#word.length) this.#state = afterValue;
        return;
    }
    if (this.#state >= firstOfNumber) {
      this.#state = nextInNumber(this.#state, byte);
      if (this.#state === wrong) throw this.#invalid(p, 'a number that JSON does not have');
      if (this.#state !== afterValue) return;
    }
    if (isSpace(byte)) {
      if (byte === 0x0a) this.#line++;
    } else this.#token(byte, p);
  }

  #escaped(byte: number, p: number): void {
    this.#state = inString;
    if (byte === 0x75) {
      this.#state = unicode;
      this.#hexLeft = 4;
    } else if (escapable[byte] !== 1) throw this.#invalid(p, 'an escape that JSON does not have');
  }

  /** A byte between tokens that is no white space. */
  #token(byte: number, p: number): void {
    switch (this.#state) {
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
        this.#state = value;
        return;
      default:
        this.#afterValue(byte, p);
    }
  }

  #afterValue(byte: number, p: number): void {
    if (this.#depth === 0) throw this.#invalid(p, 'more text after the value');
    if (byte !== 0x2c) this.#close(byte, p);
    else this.#state = this.#afterComma(this.#depth);
  }

  #key(byte: number, p: number): void {
    if (byte !== 0x22) throw this.#unexpected(byte, p);
    this.#isKey = true;
    this.#state = inString;
  }

  #value(byte: number, p: number): void {
    if (this.#depth === 1 && this.#array) this.#items++;
    if (byte === 0x22) {
      this.#isKey = false;
      this.#state = inString;
    } else if (byte === 0x7b || byte === 0x5b) this.#open(byte, p);
    else if (byte === 0x2d) this.#state = minus;
    else if (isDigit(byte)) this.#state = byte === 0x30 ? zero : integer;
    else this.#beginWord(byte, p);
  }

  #beginWord(byte: number, p: number): void {
    const known = words[byte];
    if (known === undefined) throw this.#unexpected(byte, p);
    this.#word = known;
    this.#wordAt = 1;
    this.#state = word;
  }

  #open(byte: number, p: number): void {
    if (this.#depth === deepest) throw this.#invalid(p, `more than ${deepest} open brackets`);
    const object = byte === 0x7b;
    if (this.#depth === 0) this.#array = !object;
    this.#objects[++this.#depth] = object ? 1 : 0;
    this.#state = object ? keyOrEnd : valueOrEnd;
  }

  #close(byte: number, p: number): void {
    const wanted = this.#objects[this.#depth] === 1 ? 0x7d : 0x5d;
    if (byte !== wanted) throw this.#unexpected(byte, p);
    this.#depth--;
    this.#state = afterValue;
  }

  #unexpected(byte: number, p: number): Problem {
    const shown = byte > 0x20 && byte < 0x7f ? `an unexpected ${String.fromCharCode(byte)}` : 'an unexpected character';
    return this.#invalid(p, shown);
  }

  #invalid(offset: number, what: string): Problem {
    return invalid('JSON', what, { line: this.#line, byte: this.#byte + offset });
  }
}
