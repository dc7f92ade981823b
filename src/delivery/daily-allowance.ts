import type { Destination } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import type { DayUse } from '../state/quota/quota.ts';
import type { SlotSnapshot } from '../state/quota/slot-snapshot.ts';
import type { Repositories, Store } from '../state/store.ts';
import type { Closed } from './closed.ts';
import type { DeliveryEvents } from './events.ts';
import { closing, limitOf, resumeAfter } from './quota.ts';
import type { Priority } from './send-queue.ts';

/** How many requests may be sent on a day. */
export type DayLimits = (use: DayUse, day: string) => number;

interface DailyAllowanceOptions {
  readonly destination: Destination;
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<DeliveryEvents>;
}

/** The requests that a destination's account may send in a day, and whether it was reported that none are left. */
export class DailyAllowance {
  readonly #options: DailyAllowanceOptions;
  #spentUntil: number | undefined;

  constructor(options: DailyAllowanceOptions) {
    this.#options = options;
  }

  /**
   * Limits a day's requests. A request that is in transit at midnight may arrive before or after it, so it counts on
   * both days.
   */
  limits(slots: SlotSnapshot, priority: Priority): DayLimits {
    return (use, day) => limitOf(this.#options.destination, priority, use) - slots.underway(day);
  }

  /** Why no requests can be sent on one of the days; undefined if they can be sent. */
  async spent(
    { quota }: Pick<Repositories, 'quota'>,
    days: readonly string[],
    limits: DayLimits,
  ): Promise<Closed | undefined> {
    for (const day of days) {
      const use = await quota.use(this.#options.destination.account, day);
      if (use.spentUntil !== undefined) return { why: 'quota', until: use.spentUntil };
      if (use.used >= limits(use, day)) return { why: 'quota', until: resumeAfter(day) };
    }
    return undefined;
  }

  /** Records that the service has no requests left for the account. */
  async close(retryAfterMs: number | undefined): Promise<void> {
    const { destination, store, clock } = this.#options;
    const { day, until } = closing(clock.now(), retryAfterMs);
    await store.quota.close(destination.account, day, until);
    this.reportSpent(until);
  }

  /** Reports once that no requests are left. */
  reportSpent(until: number): void {
    if (this.#spentUntil === until) return;
    this.#spentUntil = until;
    this.#options.emit('quota.spent', { ...this.#names(), until });
  }

  /** Reports the new day if {@link reportSpent} reported that no requests were left. */
  reportNewDay(): void {
    if (this.#spentUntil === undefined || this.#options.clock.now() < this.#spentUntil) return;
    this.#spentUntil = undefined;
    this.#options.emit('quota.reset', this.#names());
  }

  #names() {
    const { account, name } = this.#options.destination;
    return { account, destination: name };
  }
}
