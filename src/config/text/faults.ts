import { Problem, type ProblemLocation, type ProblemOptions } from '../../lib/problem.ts';
import type { Document, Path } from './document.ts';

export type Fault = Omit<ProblemOptions, 'family' | 'where'> & {
  readonly path: Path;
  /** Point at the key instead of the value. */
  readonly on?: 'key' | 'value';
  /** Point at this text inside the value. */
  readonly within?: string;
};

/** Collects the errors and warnings of one part of the config (a job, a source …), with their locations. */
export class Faults {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly #document: Document;
  readonly #scope: ProblemLocation;

  constructor(document: Document, scope: ProblemLocation = {}) {
    this.#document = document;
    this.#scope = scope;
  }

  /** Adds an error: this part cannot be used until it is fixed. */
  add(fault: Fault): void {
    this.problems.push(this.#problem(fault));
  }

  /** Adds a warning, which stops nothing. */
  warn(fault: Fault): void {
    this.warnings.push(this.#problem(fault));
  }

  /** The value at `path` as written in the file. */
  written(path: Path): string {
    return this.#document.written(path);
  }

  #problem({ path, on, within, ...init }: Fault): Problem {
    const place = within === undefined ? this.#document.place(path, on) : this.#document.placeWithin(path, within);
    return new Problem({ ...init, family: 'config', where: { ...place, ...this.#scope } });
  }
}
