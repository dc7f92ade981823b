import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../http/api-error.ts';
import type { Account } from '../store/accounts.ts';
import type { Database } from '../store/database.ts';
import { dailyAllowance, secondAllowance } from './allowance.ts';
import { CallCounts, type DayOfCalls } from './call-counts.ts';
import { easternCalendar } from './eastern-day.ts';
import { FailedLogins } from './failed-logins.ts';
import { networkOf } from './network-of.ts';
import { SlidingSecond } from './sliding-second.ts';

/** The service's rate limits. If the limits are disabled, calls are counted but never rejected. */
export class Limits {
  readonly #counts: CallCounts;
  readonly #clock: Clock;
  readonly #enforced: boolean;
  readonly #day = easternCalendar();
  #seconds = new SlidingSecond();
  #failures = new FailedLogins();

  constructor(given: { db: Database; clock: Clock; enforced: boolean }) {
    this.#counts = new CallCounts(given.db);
    this.#clock = given.clock;
    this.#enforced = given.enforced;
  }

  /**
   * Counts a company's call. If the call exceeds a limit, doesn't count it and throws an ApiError (429). `arrived` is
   * the call's arrival time on the monotonic clock.
   */
  countCall(company: Account, arrived: number): void {
    const now = this.#clock.now();
    const day = this.#day(now);
    if (this.#enforced) {
      const max = secondAllowance(company);
      const wait = this.#seconds.wait(company.id, arrived, max);
      if (wait > 0) throw tooFast(max, wait);
      const allowance = dailyAllowance(company);
      if (this.#counts.used(company, day) >= allowance) throw dayIsSpent(allowance, day.end - now);
      this.#seconds.take(company.id, arrived);
    }
    this.#counts.add(company, day);
  }

  /** Resolves when all calls that have been counted so far are stored. Wait for this before you send a response. */
  persisted(): Promise<void> | void {
    return this.#counts.kept();
  }

  /** Returns the days on which a company made calls, oldest first, from `from` to `to` inclusive. */
  daysOfCalls(company: Account, from: string, to: string): DayOfCalls[] {
    return this.#counts.days(company.id, from, to);
  }

  /**
   * Clears the counts of calls in the last second and of failed logins in the last minute. The daily counts are in the
   * database and aren't changed.
   */
  resetWindows(): void {
    this.#seconds = new SlidingSecond();
    this.#failures = new FailedLogins();
  }

  /**
   * Counts a failed login. Returns a function that undoes the count. Throws an ApiError (429) after too many failed
   * logins.
   */
  countFailure(address: string): () => void {
    const now = this.#clock.monotonic();
    const network = networkOf(address);
    const wait = this.#enforced ? this.#failures.wait(network, now) : 0;
    if (wait > 0) throw new ApiError('rate_limited', 'Too many requests with failed authentication', retryAfter(wait));
    return this.#failures.count(network, now);
  }
}

function tooFast(max: number, wait: number): ApiError {
  return new ApiError('rate_limited', `Too many requests: at most ${max} in one second`, retryAfter(wait));
}

function dayIsSpent(allowance: number, wait: number): ApiError {
  return new ApiError(
    'daily_limit_reached',
    `Daily limit reached: all ${allowance} of today's requests are used`,
    retryAfter(wait),
  );
}

function retryAfter(milliseconds: number): Record<string, string> {
  return { 'retry-after': String(Math.ceil(milliseconds / 1000)) };
}
