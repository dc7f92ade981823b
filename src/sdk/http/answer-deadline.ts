/**
 * A signal that aborts with another one, or with a TimeoutError after a time, until it's released. Unlike
 * `AbortSignal.timeout()` and `AbortSignal.any()`, it leaves nothing behind: a run may send many requests before the
 * time of the first one is over, and the other signal lives as long as the run.
 */
export class AnswerDeadline {
  readonly signal: AbortSignal;
  readonly release: () => void;

  constructor(other: AbortSignal, ms: number) {
    const controller = new AbortController();
    const stop = () => controller.abort(other.reason);
    const timer = setTimeout(() => {
      this.release();
      controller.abort(new DOMException('the response took too long', 'TimeoutError'));
    }, ms);
    timer.unref();
    this.signal = controller.signal;
    this.release = () => {
      clearTimeout(timer);
      other.removeEventListener('abort', stop);
    };
    if (other.aborted) stop();
    else other.addEventListener('abort', stop);
  }
}
