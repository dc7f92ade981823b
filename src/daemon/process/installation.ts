import { type Build, buildText, readStamp, startedStamp, textOf } from '../../lib/build.ts';
import { Problem } from '../../lib/problem.ts';

const lookEveryMs = 10_000;

export interface InstallationOptions {
  /** Told once, before the signal is aborted. */
  readonly changed: (problem: Problem) => void;
  /** The stamp that this process started with; undefined where the sources run, which have none. */
  readonly started?: string | undefined;
  /** The stamp on the disk now; undefined if it is gone. */
  readonly read?: () => string | undefined;
}

/**
 * Whether the installed package is still the one that this process started with. Much of it is loaded when it is first needed,
 * from files whose names change with each build: after `npm install --global` of another build, a process that goes on finds some
 * of them missing and others not matching what it has in memory. So it has to end, and its service manager starts the new one.
 */
export class Installation {
  readonly #options: InstallationOptions;
  readonly #changed = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(options: InstallationOptions) {
    this.#options = { started: startedStamp, read: readStamp, ...options };
    if (this.#options.started === undefined) return;
    this.#timer = setInterval(() => this.look(), lookEveryMs);
    this.#timer.unref();
  }

  /** Aborted, with a Problem as its reason, when another package was found. */
  get signal(): AbortSignal {
    return this.#changed.signal;
  }

  /** Looks now. True if the package is not the one of the start any more: nothing new must begin. */
  look(): boolean {
    if (this.signal.aborted) return true;
    const { started, read = readStamp, changed } = this.#options;
    if (started === undefined) return false;
    let found: string | undefined;
    try {
      found = read();
    } catch {
      // A disk that does not answer, or too many open files: nothing is known of the package.
      return false;
    }
    if (found === started) return false;
    const problem = exchanged(found);
    changed(problem);
    this.#changed.abort(problem);
    return true;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function exchanged(found: string | undefined): Problem {
  return new Problem({
    code: 'INSTALLATION_CHANGED',
    family: 'try_later',
    message: 'Another version of Sluice was installed while this one was running; the process exits to be restarted',
    seen: found === undefined ? 'the package is gone' : nameOf(found),
    allowed: buildText,
    next: 'nothing, if systemd or another service manager restarts it; otherwise run "sluice run"',
  });
}

function nameOf(stamp: string): string {
  try {
    return textOf(JSON.parse(stamp) as Build);
  } catch {
    return 'a package that is still being written';
  }
}
