/** Waits for steps of a connection that report to a callback; when the connection breaks, whoever waits is told. */
export class Breakable {
  readonly #problem: (thrown: unknown) => Error;
  /** Who is told that the connection broke. */
  onBroken: (reason: unknown) => void = () => {};

  constructor(problem: (thrown: unknown) => Error) {
    this.#problem = problem;
  }

  /** Runs a step; a broken connection or the signal end it too. Throws a problem, or the signal's reason. */
  async until(signal: AbortSignal, step: (settle: (failure: unknown) => void) => void): Promise<void> {
    let abort = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        abort = () => reject(signal.reason);
        const settle = (failure: unknown) => (failure ? reject(this.#problem(failure)) : resolve());
        signal.addEventListener('abort', abort);
        this.onBroken = settle;
        if (signal.aborted) abort();
        else step(settle);
      });
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}
