/** The two limits of a company, modeled without a service. Times are in milliseconds. */

const calendar = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York', dateStyle: 'short' });

/** The day in New York. */
const dayOf = (now: number): string => calendar.format(now);

/** The first millisecond of the next day in New York, from the calendar. */
export function midnightAfter(now: number): number {
  let before = now;
  let after = now + 26 * 3_600_000;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dayOf(middle) === dayOf(now)) before = middle;
    else after = middle;
  }
  return after;
}

interface Expected {
  readonly code: 'rate_limited' | 'daily_limit_reached';
  readonly retryAfter: number;
}

export class CompanyLimits {
  readonly #perSecond: number;
  readonly #perDay: number;
  #passed: number[] = [];
  readonly #days = new Map<string, number>();

  constructor(given: { perSecond: number; perDay: number }) {
    this.#perSecond = given.perSecond;
    this.#perDay = given.perDay;
  }

  /** The refusal of a call at this time. A call that isn't refused counts. */
  call(now: number): Expected | undefined {
    const recent = this.#passed.filter((time) => time > now - 1000);
    const wait = recent.length < this.#perSecond ? 0 : recent.at(-this.#perSecond)! + 1000 - now;
    if (wait > 0) return { code: 'rate_limited', retryAfter: Math.ceil(wait / 1000) };
    const day = dayOf(now);
    const used = this.#days.get(day) ?? 0;
    if (used >= this.#perDay) {
      return { code: 'daily_limit_reached', retryAfter: Math.ceil((midnightAfter(now) - now) / 1000) };
    }
    this.#passed = [...recent, now];
    this.#days.set(day, used + 1);
    return undefined;
  }

  usedOn(now: number): number {
    return this.#days.get(dayOf(now)) ?? 0;
  }
}

/** The limit for callers without valid credentials, all from one address. */
export class StrangerLimits {
  #failed: number[] = [];

  /** The refusal that replaces 401 for a call at this time. A call that isn't refused counts. */
  call(now: number): Expected | undefined {
    this.#failed = this.#failed.filter((time) => time > now - 60_000);
    if (this.#failed.length >= 20) {
      return { code: 'rate_limited', retryAfter: Math.ceil((this.#failed.at(-20)! + 60_000 - now) / 1000) };
    }
    this.#failed.push(now);
    return undefined;
  }
}
