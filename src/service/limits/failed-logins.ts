const minute = 60_000;
const maxFailures = 20;
/** Maximum number of tracked addresses. Counting couldn't slow down an attacker who has more addresses than this. */
const maxAddresses = 100_000;

/** Counts requests with wrong credentials per remote address, over a sliding minute. */
export class FailedLogins {
  /**
   * Failure times by address. The address with the latest failure is last; addresses whose last failure is more than a
   * minute old are at the front.
   */
  readonly #failures = new Map<string, number[]>();

  /** Number of tracked addresses. */
  get size(): number {
    return this.#failures.size;
  }

  /** Returns how long this address must wait before it may try again, in milliseconds; 0 if it may try now. */
  wait(address: string, now: number): number {
    const recent = this.#recent(address, now);
    return recent.length < maxFailures ? 0 : recent[recent.length - maxFailures]! + minute - now;
  }

  /** Counts one failure. Returns a function that undoes the count. */
  count(address: string, now: number): () => void {
    const recent = this.#recent(address, now);
    recent.push(now);
    if (recent.length > maxFailures) recent.shift();
    this.#failures.delete(address);
    this.#failures.set(address, recent);
    this.#forget(now);
    return () => {
      const at = recent.indexOf(now);
      if (at >= 0) recent.splice(at, 1);
    };
  }

  #recent(address: string, now: number): number[] {
    const known = this.#failures.get(address) ?? [];
    while (known.length > 0 && known[0]! <= now - minute) known.shift();
    return known;
  }

  #forget(now: number): void {
    for (const [address, failures] of this.#failures) {
      const over = failures.length === 0 || failures.at(-1)! <= now - minute;
      if (!over && this.#failures.size <= maxAddresses) return;
      this.#failures.delete(address);
    }
  }
}
