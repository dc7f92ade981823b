import type { Problem } from '../../lib/problem.ts';

/** Whether the database is writable, according to the last statement that had something to write. */
export class WriteHealth {
  #problem: Problem | undefined;

  /** Why the last write failed; undefined if it succeeded or nothing was written yet. */
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
