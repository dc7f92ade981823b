const minute = 60_000;
const maxFailures = 20;
/** So many addresses are remembered at most; who has more than these to try from is not held up by counting. */
const maxAddresses = 100_000;

/** Counts requests whose credentials failed, per remote address, over any sliding minute. */
export class FailedLogins {
  /** The address that failed last is the last one; what is older than a minute is at the front. */
  readonly #failures = new Map<string, number[]>();

  /** How many addresses are remembered. */
  get size(): number {
    return this.#failures.size;
  }

  /** Milliseconds until this address may fail again; 0 when it may now. */
  wait(address: string, now: number): number {
    const recent = this.#recent(address, now);
    return recent.length < maxFailures ? 0 : recent[recent.length - maxFailures]! + minute - now;
  }

  /** Counts one failure. Give the function returned back when it turns out to be none. */
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
