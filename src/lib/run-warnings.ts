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
  /** True if rows may be missing or duplicated. With `guards: {complete: true}`, such a warning makes the run fail. */
  readonly incomplete?: true;
  /**
   * True if values differ from the source's characters. With `guards: {exact: true}`, such a warning makes the run
   * fail.
   */
  readonly replaced?: true;
}

/** Maximum number of warnings per run. A source may warn once per row, but the first few warnings are enough. */
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
   * Adds a warning. This function is bound, so it can be passed to other code.
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

  /** The warnings in order of arrival. */
  get list(): readonly RunWarning[] {
    return [...this.#byText.values()];
  }
}

/** The warning as an error, for a job whose guard forbids it. */
function refusedBy(guard: 'complete' | 'exact', { code, message, seen, next }: RunWarning): Problem {
  return new Problem({
    code,
    family: 'job',
    message,
    seen,
    next: `no data is sent because of \`guards: {${guard}: true}\`${next === undefined ? '' : `. ${next}`}`,
  });
}
