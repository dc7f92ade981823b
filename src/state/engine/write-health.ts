import type { Problem } from '../../lib/problem.ts';

/** Whether the database takes writes, as the last one that had something to write found it. */
export class WriteHealth {
  #problem: Problem | undefined;

  /** Why the last write failed; undefined where it succeeded, or none was made yet. */
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
