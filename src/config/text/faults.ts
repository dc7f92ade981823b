import { Problem, type ProblemLocation, type ProblemOptions } from '../../lib/problem.ts';
import type { Document, Path } from './document.ts';

export type Fault = Omit<ProblemOptions, 'family' | 'where'> & {
  readonly path: Path;
  /** If `key`, the error points at the key instead of the value. */
  readonly on?: 'key' | 'value';
  /** If set, the error points at this text inside the value. */
  readonly within?: string;
};

/** Collects the errors and warnings about one part of the config (such as a job or a source), with their locations. */
export class Faults {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly #document: Document;
  readonly #scope: ProblemLocation;
  readonly #unread = new Map<Path, string>();

  constructor(document: Document, scope: ProblemLocation = {}) {
    this.#document = document;
    this.#scope = scope;
  }

  /**
   * Adds an error. The part can't be used until the error is fixed. If the value wasn't read, reports instead that the
   * value wasn't checked.
   */
  add(fault: Fault): undefined {
    const written = this.#unreadAt(fault.path);
    this.problems.push(this.#problem(written === undefined ? fault : unreadFault(fault, written)));
  }

  /**
   * Marks the value at `path` as unread, because one of its variables wasn't read. `written` is the value as written in
   * the file.
   */
  unread(path: Path, written: string): void {
    this.#unread.set(path, written);
  }

  #unreadAt(path: Path): string | undefined {
    return [...this.#unread].find(([at]) => path === at || path.startsWith(`${at}/`))?.[1];
  }

  /**
   * Adds a warning. A warning doesn't exclude the part. If the value wasn't read, adds only warnings about the value's
   * variables.
   */
  warn(fault: Fault): void {
    if (this.#unreadAt(fault.path) === undefined || fault.within !== undefined)
      this.warnings.push(this.#problem(fault));
  }

  /** Returns the value at `path` as written in the file. */
  written(path: Path): string {
    return this.#document.written(path);
  }

  #problem({ path, on, within, ...init }: Fault): Problem {
    const place = within === undefined ? this.#document.place(path, on) : this.#document.placeWithin(path, within);
    return new Problem({ ...init, family: 'config', where: { ...place, ...this.#scope } });
  }
}

/** The error code for errors that an unread variable may have caused. */
export const unreadCode = 'CONFIG_UNREAD';

function unreadFault({ path, message }: Fault, written: string): Fault {
  return {
    code: unreadCode,
    message: `Not checked, because the value of ${written} is unknown: ${message}`,
    path,
    next: 'set the variable when you run this command, or give it a default',
  };
}
