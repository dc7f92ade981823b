import { Problem } from './problem.ts';
import { redact } from './redact.ts';

/**
 * Something about the data that a person should know although the run goes on: values that the server cut, a declared
 * column that no record had. The code is stable, as that of a Problem. Texts are redacted before they are kept.
 */
export interface RunWarning {
  readonly code: string;
  /** What happened: one plain sentence without a full stop. */
  readonly message: string;
  /** The value seen. */
  readonly seen?: string;
  /** The next command or edit that settles it. */
  readonly next?: string;
  /** The rows may not be all that there are, or some may be there twice: `guards: {complete: true}` makes the run fail. */
  readonly incomplete?: true;
  /** Values are not what the source has, character by character: `guards: {exact: true}` makes the run fail. */
  readonly replaced?: true;
}

/** A source may warn per row; the first few tell the story. */
const maxWarnings = 20;

/** Collects the warnings of one run: redacted, each once, the first {@link maxWarnings}. */
export class RunWarnings {
  readonly #byText = new Map<string, RunWarning>();
  readonly #onWarning: (warning: RunWarning) => void;

  readonly #mustBeComplete: boolean;
  readonly #mustBeExact: boolean;

  /** @param onWarning called once for each warning that is kept. */
  constructor(onWarning: (warning: RunWarning) => void = () => undefined, { complete = false, exact = false } = {}) {
    this.#onWarning = onWarning;
    this.#mustBeComplete = complete;
    this.#mustBeExact = exact;
  }

  /**
   * Bound, so that it can be handed on as a function.
   * @throws Problem if the rows may be incomplete or characters were replaced, and the job wants none like that.
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

  /** In the order in which they came. */
  get list(): readonly RunWarning[] {
    return [...this.#byText.values()];
  }
}

/** The warning as an error, for a job with that guard. */
function refusedBy(guard: 'complete' | 'exact', { code, message, seen, next }: RunWarning): Problem {
  return new Problem({
    code,
    family: 'job',
    message,
    seen,
    next: `nothing is sent, as \`guards: {${guard}: true}\` says${next === undefined ? '' : `. ${next}`}`,
  });
}
