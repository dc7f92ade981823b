import type { Clock } from '../../lib/clock.ts';
import { type EasternDay, easternDay } from '../limits/eastern-day.ts';
import type { Database } from '../store/database.ts';
import { keepAccounts } from '../store/usage-accounts.ts';
import { keepClients } from '../store/usage-clients.ts';
import { keepConnectors } from '../store/usage-connectors.ts';
import '../../lib/temporal.ts';

const zone = 'America/New_York';
/** Maximum number of missed days to catch up on. */
const maxMissedDays = 400;

/**
 * Stores daily snapshots of every account for the usage reports. Data doesn't change while the service is down, so
 * snapshots for the days that end in that time can be stored at the next start.
 */
export class DailySnapshots {
  readonly #db: Database;
  readonly #clock: Clock;
  #ends = 0;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /**
   * Stores snapshots of the days that have ended. Call this method before an account changes; it costs almost nothing
   * if no day has ended.
   */
  rollOver(): void {
    const now = this.#clock.now();
    if (now < this.#ends) return;
    const today = easternDay(now);
    this.#db.durably(() => this.#turnTo(today));
    this.#ends = today.end;
  }

  /** Makes the next {@link rollOver} determine the current day again. Call this method after all data was replaced. */
  forget(): void {
    this.#ends = 0;
  }

  /**
   * Makes {@link rollOver} store the snapshots of repeated days again. Call this method after the clock was set back.
   */
  rewind(): void {
    const { date } = easternDay(this.#clock.now());
    this.#db.durably(() => this.#db.run('update usage_running_day set day = min(day, ?)', date));
    this.#ends = 0;
  }

  #turnTo(today: EasternDay): void {
    const running = this.#db.get<{ day: string }>('select day from usage_running_day')?.day;
    if (running !== undefined) for (const day of daysBetween(running, today.date)) this.#keep(day);
    this.#db.run(
      `insert into usage_running_day (only_row, day) values (1, ?)
       on conflict do update set day = max(day, excluded.day)`,
      today.date,
    );
  }

  #keep({ date, end }: EasternDay): void {
    keepAccounts(this.#db, date, end);
    keepConnectors(this.#db, date);
    keepClients(this.#db, date, end);
  }
}

/** Returns the days from the first day (inclusive) to the second day (exclusive). */
function daysBetween(first: string, beyond: string): EasternDay[] {
  const last = Temporal.PlainDate.from(beyond);
  const earliest = last.subtract({ days: maxMissedDays });
  let day = Temporal.PlainDate.from(first);
  if (Temporal.PlainDate.compare(day, earliest) < 0) day = earliest;
  const days: EasternDay[] = [];
  for (; Temporal.PlainDate.compare(day, last) < 0; day = day.add({ days: 1 })) {
    days.push(easternDay(day.toZonedDateTime(zone).epochMilliseconds));
  }
  return days;
}
