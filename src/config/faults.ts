import { Problem, type ProblemLocation, type ProblemOptions } from '../lib/problem.ts';
import type { Document, Path } from './document.ts';

export type Fault = Omit<ProblemOptions, 'family' | 'where'> & {
  readonly path: Path;
  /** Point at the key instead of what stands behind it. */
  readonly on?: 'key' | 'value';
  /** Point at this text inside the value. */
  readonly within?: string;
};

/** Collects what is wrong in one part of the config (a job, a source …), each with its place in the file. */
export class Faults {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly #document: Document;
  readonly #scope: ProblemLocation;

  constructor(document: Document, scope: ProblemLocation = {}) {
    this.#document = document;
    this.#scope = scope;
  }

  /** Something that has to be mended before this part can be used. */
  add(fault: Fault): void {
    this.problems.push(this.#problem(fault));
  }

  /** Something worth a look that stops nothing. */
  warn(fault: Fault): void {
    this.warnings.push(this.#problem(fault));
  }

  /** The value at `path` as it stands in the file. */
  written(path: Path): string {
    return this.#document.written(path);
  }

  #problem({ path, on, within, ...init }: Fault): Problem {
    const place = within === undefined ? this.#document.place(path, on) : this.#document.placeWithin(path, within);
    return new Problem({ ...init, family: 'config', where: { ...place, ...this.#scope } });
  }
}
