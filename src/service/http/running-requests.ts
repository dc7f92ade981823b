import type { Socket } from 'node:net';

/** The requests that are being worked on, each with its connection. */
export class RunningRequests {
  readonly #sockets = new Map<Promise<void>, Socket>();

  /** Keeps track of one until it is over. One that has failed to answer loses its connection, so that nobody waits. */
  add(one: Promise<void>, socket: Socket): void {
    this.#sockets.set(one, socket);
    const isOver = (): boolean => this.#sockets.delete(one);
    one.then(isOver, () => isOver() && socket.destroy());
  }

  /** Resolves when those are over that are being worked on now. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#sockets.keys());
  }

  /** Ends the connections of all of them. */
  cutOff(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}
