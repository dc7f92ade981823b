import { Problem } from './problem.ts';
import { redact } from './redact.ts';

/**
 * A warning about the data; the run continues. Examples: values that the server truncated, a declared column that no
 * record has. The code is stable, like that of a Problem. Texts are redacted before they're stored.
 */
export interface RunWarning {
  readonly code: string;
  /** What happened: one sentence without a full stop. */
  readonly message: string;
  /** The value seen. */
  readonly seen?: string;
  /** The command or edit that fixes the problem. */
  readonly next?: string;
  /** Rows may be missing or duplicated: `guards: {complete: true}` makes the run fail. */
  readonly incomplete?: true;
  /** Values differ from the source's characters: `guards: {exact: true}` makes the run fail. */
  readonly replaced?: true;
}

/** A source may warn once per row; the first few are enough. */
const maxWarnings = 20;

/** Collects a run's warnings: redacted, without duplicates, and at most {@link maxWarnings} of them. */
export class RunWarnings {
  readonly #byText = new Map<string, RunWarning>();
  readonly #onWarning: (warning: RunWarning) => void;

  readonly #mustBeComplete: boolean;
  readonly #mustBeExact: boolean;

  /** @param onWarning called once per stored warning */
  constructor(onWarning: (warning: RunWarning) => void = () => undefined, { complete = false, exact = false } = {}) {
    this.#onWarning = onWarning;
    this.#mustBeComplete = complete;
    this.#mustBeExact = exact;
  }

  /**
   * Bound, so it can be passed as a function.
   * @throws Problem if rows may be incomplete or characters were replaced, and one of the job's guards forbids that
   */
  readonly add = (given: RunWarning): void => {
    const { code, message, seen, next, incomplete, replaced } = given;
    if (incomplete === true && this.#mustBeComplete) throw refusedBy('complete', given);
    if (replaced === true && this.#mustBeExact) throw refusedBy('exact', given);
    const warning: RunWarning = {
      code,
      message: redact(message),
      seen: seen === undefined ? undefined : redact(seen),
      next: next === undefined ? undefined : redact(next),
      ...(incomplete === true ? { incomplete } : {}),
      ...(replaced === true ? { replaced } : {}),
    };
    const text = JSON.stringify(warning);
    if (this.#byText.has(text) || this.#byText.size >= maxWarnings) return;
    this.#byText.set(text, warning);
    this.#onWarning(warning);
  };

  /** In order of arrival. */
  get list(): readonly RunWarning[] {
    return [...this.#byText.values()];
  }
}

/** The warning as an error, for a job with the guard. */
function refusedBy(guard: 'complete' | 'exact', { code, message, seen, next }: RunWarning): Problem {
  return new Problem({
    code,
    family: 'job',
    message,
    seen,
    next: `no data is sent because of \`guards: {${guard}: true}\`${next === undefined ? '' : `. ${next}`}`,
  });
}
