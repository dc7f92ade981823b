import { Problem, type ProblemLocation, type ProblemOptions } from '../../lib/problem.ts';
import type { Document, Path } from './document.ts';

export type Fault = Omit<ProblemOptions, 'family' | 'where'> & {
  readonly path: Path;
  /** Points at the key instead of the value. */
  readonly on?: 'key' | 'value';
  /** Points at this text inside the value. */
  readonly within?: string;
};

/** Collects the errors and warnings about one part of the config (a job, a source …), with their locations. */
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
   * Adds an error: this part can't be used until it's fixed. If the value wasn't read, reports instead that it wasn't
   * checked.
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
   * Adds a warning, which doesn't exclude the part. If the value wasn't read, adds only warnings about its variables.
   */
  warn(fault: Fault): void {
    if (this.#unreadAt(fault.path) === undefined || fault.within !== undefined)
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

/** The code for errors that an unread variable may have caused. */
export const unreadCode = 'CONFIG_UNREAD';

function unreadFault({ path, message }: Fault, written: string): Fault {
  return {
    code: unreadCode,
    message: `Not checked, because the value of ${written} is unknown: ${message}`,
    path,
    next: 'set the variable when you run this command, or give it a default',
  };
}
