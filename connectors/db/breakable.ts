/**
 * Wraps a connection's callback-based operations in promises. If the connection breaks, the pending operation is
 * rejected.
 */
export class Breakable {
  readonly #problem: (thrown: unknown) => Error;
  /** Called if the connection breaks. */
  onBroken: (reason: unknown) => void = () => {};

  constructor(problem: (thrown: unknown) => Error) {
    this.#problem = problem;
  }

  /**
   * Runs an operation, and stops waiting if the connection breaks or the signal is aborted. Throws a Problem or the
   * signal's reason.
   */
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
