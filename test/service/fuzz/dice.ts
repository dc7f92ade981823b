/** Decisions that were drawn before anybody knew between what: each throw takes the next number, the last ones are 0. */
export class Dice {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** A whole number below `sides`. What is drawn shrinks to 0, so 0 should be the plainest choice. */
  below(sides: number): number {
    return (this.#numbers[this.#at++] ?? 0) % sides;
  }

  /** True so many times in a hundred. */
  percent(often: number): boolean {
    return this.below(100) >= 100 - often;
  }

  pick<T>(all: readonly T[]): T | undefined {
    return all[this.below(Math.max(all.length, 1))];
  }
}
