import type { Socket } from 'node:net';

/** Tracks the requests in progress, each with its connection. */
export class RunningRequests {
  readonly #sockets = new Map<Promise<void>, Socket>();

  /**
   * Tracks a request until it ends. If the request fails without a response, closes its connection so that the client
   * doesn't wait for one.
   */
  add(one: Promise<void>, socket: Socket): void {
    this.#sockets.set(one, socket);
    const isOver = (): boolean => this.#sockets.delete(one);
    one.then(isOver, () => isOver() && socket.destroy());
  }

  /** Resolves when all requests that are currently in progress have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#sockets.keys());
  }

  /** Closes all their connections. */
  cutOff(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}
