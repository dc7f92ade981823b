import type { Problem } from '../../lib/problem.ts';

/** Whether the database is writable, according to the last statement that changed rows or failed to. */
export class WriteHealth {
  #problem: Problem | undefined;

  /** The error of the last write. Undefined if the last write succeeded or if nothing has been written yet. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  refused(problem: Problem): void {
    this.#problem = problem;
  }

  written(): void {
    this.#problem = undefined;
  }
}
