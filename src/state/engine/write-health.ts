import type { Problem } from '../../lib/problem.ts';

/** Whether the database is writable, according to the last statement that changed rows or failed to. */
export class WriteHealth {
  #problem: Problem | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;

  /** The error of the last write. Undefined if the last write succeeded or if nothing has been written yet. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /**
   * A write failed. `begunAt` is when it began, on the process's own clock. If another write has succeeded since then,
   * the failure is outdated, such as if a lost connection is noticed late.
   */
  refused(problem: Problem, begunAt = performance.now()): void {
    if (begunAt >= this.#writtenAt) this.#problem = problem;
  }

  written(): void {
    this.#problem = undefined;
    this.#writtenAt = performance.now();
  }
}
