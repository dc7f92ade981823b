import type { Clock } from '../lib/clock.ts';
import { maxTravelMs, type SlotTicket } from '../state/quota/send-slots.ts';
import type { Store } from '../state/store.ts';
import { daysOf } from './quota.ts';

/** Gives the slots of requests back that have ended, as soon as they can't arrive any more. */
export class SlotReturns {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Of requests without an answer whose connection is still being closed. */
  readonly #closing = new Set<Promise<void>>();

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * The slot begins its rest. A request that ran past midnight is charged to the new day as well. `closing`: no answer came,
   * and the connection is being closed; true once the other side has closed it, until then the request may still arrive.
   */
  async giveBack(ticket: SlotTicket, closing: Promise<boolean> | undefined): Promise<void> {
    if (closing === undefined) return this.#release(ticket);
    await this.#store.sendSlots.abandon(ticket, daysOf(this.#clock.now(), maxTravelMs));
    const closed = closing
      .then((isClosed) => (isClosed ? this.#release(ticket) : undefined))
      // The slot then rests for as long as its request may travel.
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  /** Resolves when nothing is being closed any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#closing);
  }

  #release(ticket: SlotTicket): Promise<void> {
    return this.#store.sendSlots.release(ticket, daysOf(this.#clock.now()));
  }
}
