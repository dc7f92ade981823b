/** The longest time by which a slot is taken in advance, in milliseconds. */
const maxLeadMs = 500;

/**
 * How long in advance to take a slot. On a server, taking one needs several round trips. If they began only when the slot
 * is free, the account would send less than it may.
 */
export class SlotLead {
  /** How long it recently took to take a slot, in milliseconds. */
  #takeMs = 0;

  /** The lead in milliseconds. */
  get ms(): number {
    return Math.min(this.#takeMs, maxLeadMs);
  }

  /** Records how long it took to take a slot. */
  took(ms: number): void {
    this.#takeMs = Math.max(ms, 0.9 * this.#takeMs);
  }
}
