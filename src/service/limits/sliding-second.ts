const second = 1000;
/** Calls are checked slightly out of order (a password takes longer than a key), but never this late. */
const memory = 60 * second;

/**
 * Sliding window: at most `max` calls in any one second, wherever it begins. Calls count when they arrived, not when
 * they were checked, so the result does not depend on how long earlier steps took.
 */
export class SlidingSecond {
  readonly #arrivals = new Map<string, number[]>();

  /** Milliseconds until a call of this company is allowed; 0 if a call arriving at `time` is allowed now. */
  wait(company: string, time: number, max: number): number {
    const past = this.#arrivals.get(company) ?? [];
    const at = insertionPoint(past, time);
    let wait = 0;
    // With the new call in place, each run of max+1 neighbours that holds it must span a second or more.
    for (let first = Math.max(0, at - max); first <= at; first++) {
      const last = first + max - 1;
      if (last >= past.length) break;
      const from = first === at ? time : past[first]!;
      const to = last < at ? time : past[last]!;
      if (to - from < second) wait = Math.max(wait, past[first]! + second - time);
    }
    return wait;
  }

  /** Records a call that was allowed. */
  take(company: string, time: number): void {
    const past = this.#arrivals.get(company);
    if (past === undefined) {
      this.#arrivals.set(company, [time]);
      return;
    }
    const at = insertionPoint(past, time);
    if (at === past.length) past.push(time);
    else past.splice(at, 0, time);
    // Many at a time: taking the first one off a long array moves all the others.
    if (past[0]! < past.at(-1)! - 2 * memory) past.splice(0, insertionPoint(past, past.at(-1)! - memory));
  }
}

function insertionPoint(sorted: readonly number[], time: number): number {
  let at = sorted.length;
  while (at > 0 && sorted[at - 1]! > time) at--;
  return at;
}
