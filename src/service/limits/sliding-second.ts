const second = 1000;
/**
 * Calls are checked slightly out of order (checking a password takes longer than checking a key), but never this late.
 */
const memory = 60 * second;

/**
 * Sliding-window rate limiter: at most `max` calls within any second. A call counts at its arrival time, not when it's
 * checked, so the result doesn't depend on how long earlier steps took.
 */
export class SlidingSecond {
  readonly #arrivals = new Map<string, number[]>();

  /** Milliseconds until a call of this company is allowed; 0 if a call arriving at `time` is allowed. */
  wait(company: string, time: number, max: number): number {
    const past = this.#arrivals.get(company) ?? [];
    const at = insertionPoint(past, time);
    let wait = 0;
    // Each window of max+1 consecutive calls that includes the new one must span at least a second.
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
    // Removes many at a time, because removing the first element of a long array moves all others.
    if (past[0]! < past.at(-1)! - 2 * memory) past.splice(0, insertionPoint(past, past.at(-1)! - memory));
  }
}

function insertionPoint(sorted: readonly number[], time: number): number {
  let at = sorted.length;
  while (at > 0 && sorted[at - 1]! > time) at--;
  return at;
}
