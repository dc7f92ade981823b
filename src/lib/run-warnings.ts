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
}

/** A source may warn per row; the first few tell the story. */
const maxWarnings = 20;

/** Collects the warnings of one run: redacted, each once, the first {@link maxWarnings}. */
export class RunWarnings {
  readonly #byText = new Map<string, RunWarning>();
  readonly #onWarning: (warning: RunWarning) => void;

  /** @param onWarning called once for each warning that is kept. */
  constructor(onWarning: (warning: RunWarning) => void = () => undefined) {
    this.#onWarning = onWarning;
  }

  /** Bound, so that it can be handed on as a function. */
  readonly add = ({ code, message, seen, next }: RunWarning): void => {
    const warning: RunWarning = {
      code,
      message: redact(message),
      ...(seen === undefined ? {} : { seen: redact(seen) }),
      ...(next === undefined ? {} : { next: redact(next) }),
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
