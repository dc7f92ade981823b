import { compareKeys, compareText, sortKeyOf } from '../transforms/values/sort-key.ts';
import { DistinctCount, type DistinctResult } from './distinct-count.ts';

/** One column's statistics. */
export interface ColumnFigures {
  readonly nulls: number;
  /**
   * The lowest and highest values; null if all cells are null. If all values are plain numbers, they're compared as
   * numbers; otherwise, by code point.
   */
  readonly min: string | null;
  readonly max: string | null;
  readonly distinct: DistinctResult;
}

/** Computes one column's statistics in a single streaming pass, in constant memory. */
export class ColumnProfile {
  readonly #numbers = new Extremes(compareNumbers);
  readonly #texts = new Extremes(compareText);
  readonly #distinct = new DistinctCount();
  #nulls = 0;
  #isNumeric = true;

  add(text: string | null): void {
    if (text === null) {
      this.#nulls += 1;
      return;
    }
    this.#isNumeric &&= plainNumber.test(text);
    if (this.#isNumeric) this.#numbers.add(text);
    this.#texts.add(text);
    this.#distinct.add(text);
  }

  /** True if all values so far are plain numbers, such as -1.50. */
  get isNumeric(): boolean {
    return this.#isNumeric;
  }

  get figures(): ColumnFigures {
    const { min, max } = this.#isNumeric ? this.#numbers : this.#texts;
    return { nulls: this.#nulls, min, max, distinct: this.#distinct.value };
  }
}

class Extremes {
  readonly #compare: (a: string, b: string) => number;
  min: string | null = null;
  max: string | null = null;

  constructor(compare: (a: string, b: string) => number) {
    this.#compare = compare;
  }

  add(text: string): void {
    if (this.min === null || this.#compare(text, this.min) < 0) this.min = text;
    if (this.max === null || this.#compare(text, this.max) > 0) this.max = text;
  }
}

const plainNumber = /^-?\d+(\.\d+)?$/;
const decimalKey = sortKeyOf('decimal');
/** Numbers with at most this many characters can be represented exactly as JavaScript numbers. */
const exactCharacters = 15;

function compareNumbers(a: string, b: string): number {
  if (a.length <= exactCharacters && b.length <= exactCharacters) return Number(a) - Number(b);
  return compareKeys(decimalKey(a), decimalKey(b));
}
