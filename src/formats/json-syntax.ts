import { first, same } from '../lib/four-bytes.ts';
import type { SyntaxPosition } from './invalid.ts';
import { JsonRowTemplate } from './json-row-template.ts';
import {
  afterValue,
  colon,
  inString,
  isInNumber,
  key,
  keyOrEnd,
  nextInNumber,
  value,
  valueOrEnd,
} from './json-states.ts';
import { JsonSteps, maxDepth } from './json-steps.ts';
import { endsRun, endsRunIn, isSpace, scalarEnd, stringEnd, unsure, valueEnd } from './json-tokens.ts';

/**
 * Scans one JSON value and throws at the first fault: whole tokens as long as they are right, and byte by byte what is
 * cut or wrong.
 */
export class JsonSyntax {
  readonly #at = new JsonSteps();
  readonly #refrain = new JsonRowTemplate();

  accept(bytes: Buffer): void {
    const { length } = bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    for (let p = 0; p < length; p++) {
      if (this.#at.state <= afterValue) p = this.#tokens(bytes, view, p);
      if (p === length) break;
      let byte = bytes[p]!;
      if (this.#at.state === inString) {
        while (endsRun[byte] === 0 && ++p < length) byte = bytes[p]!;
        if (p === length) break;
      }
      this.#at.step(byte, p);
    }
    this.#at.byte += length;
  }

  /** Items of the outermost array; undefined when the value is no array. */
  end(): number | undefined {
    if (isInNumber(this.#at.state)) this.#at.state = nextInNumber(this.#at.state, 0x20);
    if (this.#at.state === value && this.#at.depth === 0) throw this.#at.invalid(0, 'the document is empty');
    if (this.#at.state !== afterValue || this.#at.depth > 0) throw this.#at.invalid(0, 'the document ends too early');
    return this.#at.array ? this.#at.items : undefined;
  }

  /** Just after what was accepted so far. */
  spot(): SyntaxPosition {
    return { line: this.#at.line, byte: this.#at.byte };
  }

  /**
   * Passes white space and whole tokens, brackets too but for the outermost; returns where something else stands, which
   * is for the steps.
   */
  #tokens(bytes: Buffer, view: DataView, start: number): number {
    const { length } = bytes;
    const lastFour = length - 4;
    const objects = this.#at.objects;
    let depth = this.#at.depth;
    let state = this.#at.state;
    let afterComma = this.#at.afterComma(depth);
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
        if (byte === 0x0a) this.#at.line++;
        continue;
      }
      const isInRow = depth === 2 && afterComma === key;
      if (isInRow && state === value && byte !== 0x7b && byte !== 0x5b) {
        refrain.between(lastEnd, p, this.#at.line);
        if (isFirst && refrain.first(items, this.#at.line)) {
          end = this.#recite(bytes, view, p);
          state = this.#at.state;
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
          if (depth === 0 || depth === maxDepth) break;
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
          afterComma = this.#at.afterComma(depth);
        }
      }
    }
    this.#at.state = state;
    this.#at.depth = depth;
    if (this.#at.array) this.#at.items += items;
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
    this.#at.state = value;
    for (let c = 0; ; ) {
      const end = scalarEnd(bytes, view, at);
      if (end === unsure) break;
      at = end;
      const length = lengths[c]!;
      if (at + length > bytes.length || !same(view, starts[c]!, at, length)) {
        this.#at.state = afterValue;
        break;
      }
      at += length;
      this.#at.line += lines[c]!;
      if (++c === columns) {
        c = 0;
        rows++;
      }
    }
    if (this.#at.array) this.#at.items += rows;
    return at;
  }
}
