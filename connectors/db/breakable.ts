/** Promisifies a connection's callback-based steps. If the connection breaks, the pending step is rejected. */
export class Breakable {
  readonly #problem: (thrown: unknown) => Error;
  /** Called if the connection breaks. */
  onBroken: (reason: unknown) => void = () => {};

  constructor(problem: (thrown: unknown) => Error) {
    this.#problem = problem;
  }

  /** Runs a step. A broken connection or the signal also ends it. Throws a problem, or the signal's reason. */
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
