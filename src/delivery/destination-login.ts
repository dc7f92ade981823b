import type { Destination } from '../config/config.ts';
import type { Problem } from '../lib/problem.ts';

/** Whether the current credentials of a destination were refused. Reads them again once before they count as refused. */
export class DestinationLogin {
  readonly #destination: Destination;
  /** The credentials of the last request that was rejected with 401. */
  #refused = '';
  #block: { readonly problem: Problem; readonly credentials: string } | undefined;
  /** True if they were already read again since they were last accepted. */
  #hasRenewed = false;

  constructor(destination: Destination) {
    this.#destination = destination;
  }

  /** A text that changes with the credentials; it's never shown. */
  get credentials(): string {
    return JSON.stringify(this.#destination.credentials);
  }

  /** Why nothing can be sent; undefined if the current credentials weren't refused. */
  get problem(): Problem | undefined {
    return this.#block?.credentials === this.credentials ? this.#block.problem : undefined;
  }

  /** Call this with the status of each response and its request's credentials. */
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

  /** The last 401 means that the credentials are refused. Returns whether they still are the current ones. */
  block(problem: Problem): boolean {
    this.#block = { problem, credentials: this.#refused };
    return this.problem !== undefined;
  }

  /** Allows another try of refused credentials: they changed, or a new run started. */
  reset(): void {
    this.#block = undefined;
    this.#hasRenewed = false;
  }
}
