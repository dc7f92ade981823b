const minute = 60_000;
const most = 20;

/** Counts requests whose credentials failed, per remote address, over any sliding minute. */
export class FailedLogins {
  readonly #failures = new Map<string, number[]>();

  /** Milliseconds until this address may fail again; 0 when it may now. */
  wait(address: string, now: number): number {
    const recent = this.#recent(address, now);
    return recent.length < most ? 0 : recent[recent.length - most]! + minute - now;
  }

  /** Counts one failure. Give the function returned back when it turns out to be none. */
  count(address: string, now: number): () => void {
    const recent = this.#recent(address, now);
    recent.push(now);
    this.#failures.set(address, recent);
    return () => {
      const at = recent.indexOf(now);
      if (at >= 0) recent.splice(at, 1);
    };
  }

  #recent(address: string, now: number): number[] {
    const known = this.#failures.get(address);
    if (known === undefined) return [];
    while (known.length > 0 && known[0]! <= now - minute) known.shift();
    if (known.length === 0) this.#failures.delete(address);
    return known;
  }
}
