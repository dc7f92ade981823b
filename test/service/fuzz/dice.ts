/** Numbers drawn in advance. Each decision takes the next one, or 0 if none are left. */
export class Dice {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** An integer below `sides`. Shrinking tends toward 0, so 0 should be the simplest choice. */
  below(sides: number): number {
    return (this.#numbers[this.#at++] ?? 0) % sides;
  }

  /** True with this probability, in percent. */
  percent(often: number): boolean {
    return this.below(100) >= 100 - often;
  }

  pick<T>(all: readonly T[]): T | undefined {
    return all[this.below(Math.max(all.length, 1))];
  }
}
