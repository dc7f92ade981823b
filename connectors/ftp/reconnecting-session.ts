import { setTimeout as wait } from 'node:timers/promises';
import { exponentialMs } from '#sdk';
import type { Connect, Session } from './session.ts';

const firstWaitMs = 250;
const maxWaitMs = 8000;

interface ReconnectingSessionOptions {
  readonly connect: Connect;
  readonly signal: AbortSignal;
}

/**
 * Opens a new session if the previous one was lost. Keeps at most one session open, and closes it if the run is
 * aborted.
 */
export class ReconnectingSession {
  readonly #connect: Connect;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.#session?.close();
  #session: Session | undefined;

  private constructor({ connect, signal }: ReconnectingSessionOptions) {
    this.#connect = connect;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  static async open(init: ReconnectingSessionOptions): Promise<ReconnectingSession> {
    const line = new ReconnectingSession(init);
    try {
      await line.renew();
      return line;
    } catch (error) {
      line.close();
      throw error;
    }
  }

  get session(): Session {
    return this.#session!;
  }

  async renew(): Promise<void> {
    this.#session?.close();
    this.#signal.throwIfAborted();
    try {
      this.#session = await this.#connect(this.#signal);
    } catch (error) {
      this.#signal.throwIfAborted();
      throw error;
    }
    if (this.#signal.aborted) this.#session.close();
    this.#signal.throwIfAborted();
  }

  /** Replaces a lost session. The wait before the next login grows exponentially with each consecutive loss. */
  async retry(timesLost: number): Promise<void> {
    const ms = exponentialMs(timesLost - 1, { firstMs: firstWaitMs, maxMs: maxWaitMs });
    await wait(ms, undefined, { signal: this.#signal }).catch(() => undefined);
    await this.renew();
  }

  /**
   * Calls `work` with the session. If the run was aborted, throws the signal's reason instead of the error from `work`.
   */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await work(this.session);
    } catch (error) {
      this.#signal.throwIfAborted();
      throw error;
    }
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#session?.close();
  }
}
