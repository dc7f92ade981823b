const second = 1000;
/**
 * How long a call's arrival time is remembered. Calls are checked slightly out of order, because a password takes
 * longer to check than a key, but never with a delay this long.
 */
const memory = 60 * second;

/**
 * Sliding-window rate limiter: allows at most `max` calls within any second. A call counts at its arrival time, not at
 * the time when it's checked, so the result doesn't depend on how long earlier steps took.
 */
export class SlidingSecond {
  readonly #arrivals = new Map<string, number[]>();

  /**
   * Returns how long a company must wait before its next call is allowed, in milliseconds; 0 if a call that arrives at
   * `time` is allowed.
   */
  wait(company: string, time: number, max: number): number {
    const past = this.#arrivals.get(company) ?? [];
    const at = insertionPoint(past, time);
    let wait = 0;
    // Any max+1 consecutive calls that include the new one must span at least one second.
    for (let first = Math.max(0, at - max); first <= at; first++) {
      const last = first + max - 1;
      if (last >= past.length) break;
      const from = first === at ? time : past[first]!;
      const to = last < at ? time : past[last]!;
      if (to - from < second) wait = Math.max(wait, past[first]! + second - time);
    }
    return wait;
  }

  /** Records an allowed call. */
  take(company: string, time: number): void {
    const past = this.#arrivals.get(company);
    if (past === undefined) {
      this.#arrivals.set(company, [time]);
      return;
    }
    const at = insertionPoint(past, time);
    if (at === past.length) past.push(time);
    else past.splice(at, 0, time);
    // Remove many old entries at once, because removing the first element of a long array moves all other elements.
    if (past[0]! < past.at(-1)! - 2 * memory) past.splice(0, insertionPoint(past, past.at(-1)! - memory));
  }
}

function insertionPoint(sorted: readonly number[], time: number): number {
  let at = sorted.length;
  while (at > 0 && sorted[at - 1]! > time) at--;
  return at;
}
