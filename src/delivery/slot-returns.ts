import type { Clock } from '../lib/clock.ts';
import type { SlotTicket } from '../state/quota/send-slots.ts';
import { maxTravelMs } from '../state/quota/slot-rest.ts';
import type { Store } from '../state/store.ts';
import { daysOf } from './quota.ts';

/** Returns a finished request's slot as soon as the request can no longer arrive. */
export class SlotReturns {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Requests without a response whose connection is still being closed. */
  readonly #closing = new Set<Promise<void>>();

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Starts the slot's rest period. A request that ran past midnight counts towards the new day too. `closing`: set if
   * there was no response and the connection is being closed; resolves to true when the peer has closed it. Until then,
   * the request may still arrive.
   */
  async giveBack(ticket: SlotTicket, closing: Promise<boolean> | undefined): Promise<void> {
    if (closing === undefined) return this.#release(ticket);
    await this.#store.sendSlots.abandon(ticket, daysOf(this.#clock.now(), maxTravelMs));
    const closed = closing
      .then((isClosed) => (isClosed ? this.#release(ticket) : undefined))
      // If this fails, the slot stays taken for as long as its request may be in transit.
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  /** Resolves when no connections are being closed. */
  async settled(): Promise<void> {
    await Promise.all(this.#closing);
  }

  #release(ticket: SlotTicket): Promise<void> {
    return this.#store.sendSlots.release(ticket, daysOf(this.#clock.now()));
  }
}
