import { type Build, buildText, readStamp, startedStamp, textOf } from '../../lib/build.ts';
import { Problem } from '../../lib/problem.ts';

const lookEveryMs = 10_000;

export interface InstallationOptions {
  /** Called once before the signal is aborted. */
  readonly changed: (problem: Problem) => void;
  /** The build stamp of the package that this process started with. Undefined if the process runs from source. */
  readonly started?: string | undefined;
  /** The build stamp that is on disk now. Undefined if there is none. */
  readonly read?: () => string | undefined;
}

/**
 * Detects whether the installed package was replaced after startup. Many modules are loaded lazily, from files whose
 * names change with each build. After another build was installed with `npm install --global`, some of these files
 * would be missing and others incompatible. The process must then exit, so that its service manager starts the new
 * build.
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

  /** Aborted when a different package is found on disk. The reason is a Problem. */
  get signal(): AbortSignal {
    return this.#changed.signal;
  }

  /** Checks the package now. Returns true if the package was replaced and therefore no more work may start. */
  look(): boolean {
    if (this.signal.aborted) return true;
    const { started, read = readStamp, changed } = this.#options;
    if (started === undefined) return false;
    let found: string | undefined;
    try {
      found = read();
    } catch {
      // If the disk doesn't respond or too many files are open, it's unknown whether the package was replaced.
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
    message:
      'Another version of Sluice was installed while this one was running; the process exits so that it can be restarted',
    seen: found === undefined ? 'the package is missing' : nameOf(found),
    allowed: buildText,
    next: 'no action needed if systemd or another service manager restarts Sluice; otherwise run "sluice run"',
  });
}

function nameOf(stamp: string): string {
  try {
    return textOf(JSON.parse(stamp) as Build);
  } catch {
    return 'a package that is still being written';
  }
}
