import type { Destination } from '../config/config.ts';
import type { Problem } from '../lib/problem.ts';

/**
 * Tracks whether a destination's current credentials were refused. Reads the credentials again once before they count
 * as refused.
 */
export class DestinationLogin {
  readonly #destination: Destination;
  /** The credentials of the last request that was rejected with 401. */
  #refused = '';
  #block: { readonly problem: Problem; readonly credentials: string } | undefined;
  /** True if the credentials have been read again since they were last accepted. */
  #hasRenewed = false;

  constructor(destination: Destination) {
    this.#destination = destination;
  }

  /** A string that identifies the current credentials. It contains them, so it must never be shown. */
  get credentials(): string {
    return JSON.stringify(this.#destination.credentials);
  }

  /** Why no requests can be sent; undefined if the current credentials haven't been refused. */
  get problem(): Problem | undefined {
    return this.#block?.credentials === this.credentials ? this.#block.problem : undefined;
  }

  /** Call this after each response, with its status and the credentials that were sent. */
  async answered(status: number, sent: string): Promise<void> {
    if (status !== 401) {
      this.#hasRenewed = false;
      return;
    }
    this.#refused = sent;
    const { renew } = this.#destination;
    if (renew === undefined || this.#hasRenewed || sent !== this.credentials) return;
    this.#hasRenewed = true;
    await renew(this.#destination);
  }

  /** Treats the credentials of the last 401 response as refused. Returns whether they're still current. */
  block(problem: Problem): boolean {
    this.#block = { problem, credentials: this.#refused };
    return this.problem !== undefined;
  }

  /** Allows refused credentials to be tried again, because they changed or a new run started. */
  reset(): void {
    this.#block = undefined;
    this.#hasRenewed = false;
  }
}
