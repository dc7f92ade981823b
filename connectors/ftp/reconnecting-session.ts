import { setTimeout as wait } from 'node:timers/promises';
import { exponentialMs } from '#sdk';
import type { Connect, Session } from './session.ts';

const firstWaitMs = 250;
const maxWaitMs = 8000;

interface ReconnectingSessionOptions {
  readonly connect: Connect;
  readonly signal: AbortSignal;
}

/** A session that reconnects: one at a time, closed when the run is stopped, opened again after a lost connection. */
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

  /** Another session in place of a lost one; the more often it was lost in a row, the longer is waited before. */
  async retry(timesLost: number): Promise<void> {
    const ms = exponentialMs(timesLost - 1, { firstMs: firstWaitMs, maxMs: maxWaitMs });
    await wait(ms, undefined, { signal: this.#signal }).catch(() => undefined);
    await this.renew();
  }

  /** What the work comes to; when it was stopped, the signal's reason, whatever broke on the way. */
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
