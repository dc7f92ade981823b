const minute = 60_000;
const maxFailures = 20;
/**
 * Maximum number of tracked addresses. If a client has more addresses than this, counting can't slow it down anyway.
 */
const maxAddresses = 100_000;

/** Counts requests whose credentials failed, per remote address, over any sliding minute. */
export class FailedLogins {
  /** Ordered by last failure, newest last; entries older than a minute are at the front. */
  readonly #failures = new Map<string, number[]>();

  /** Number of tracked addresses. */
  get size(): number {
    return this.#failures.size;
  }

  /** Milliseconds until this address may try again; 0 if it may try now. */
  wait(address: string, now: number): number {
    const recent = this.#recent(address, now);
    return recent.length < maxFailures ? 0 : recent[recent.length - maxFailures]! + minute - now;
  }

  /** Counts one failure. The returned function refunds it. */
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
