import { clientStatuses } from '../client-status.ts';
import { type ClientDay, clientDays, clientsNow } from '../store/usage-clients.ts';
import { daysWith, type ReportQuery, texts } from './report.ts';

export const clientTrend = texts('calendar_date', 'added', 'cancelled');

/**
 * Creates the client trend (added and cancelled clients) with one row per requested day. All values are strings, as in
 * the API document.
 */
export function clientTrendRows(asked: ReportQuery): object[] {
  return daysOf(asked, asked.from.date, asked.to.date).map(({ day, added, cancelled }) => ({
    calendar_date: day,
    added: String(added),
    cancelled: String(cancelled),
  }));
}

export const clientAggregate = texts('calendar_date', 'adds', 'cancels', 'total', ...clientStatuses);

/**
 * Creates one record for each month that overlaps the requested range. A record contains the totals of the whole month
 * and the state at the end of the month.
 */
export function clientAggregateRows(asked: ReportQuery): object[] {
  const [first, last] = [`${monthOf(asked.from.date)}-01`, `${monthOf(asked.to.date)}-31`];
  const byMonth = Map.groupBy(daysOf(asked, first, last), ({ day }) => monthOf(day));
  return [...byMonth].map(([month, days]) => {
    const { states } = days.at(-1)!;
    return {
      calendar_date: `${month}-01`,
      adds: sumOf(days.map(({ added }) => added)),
      cancels: sumOf(days.map(({ cancelled }) => cancelled)),
      total: sumOf(Object.values(states)),
      ...Object.fromEntries(clientStatuses.map((status) => [status, String(states[status])])),
    };
  });
}

const monthOf = (day: string): string => day.slice(0, 7);

function sumOf(numbers: readonly number[]): string {
  return String(numbers.reduce((sum, one) => sum + one, 0));
}

function daysOf({ db, account, now, runningDay }: ReportQuery, from: string, to: string): ClientDay[] {
  return daysWith(
    { from, to, runningDay },
    {
      over: clientDays(db, account.id, from, to),
      running: () => [clientsNow(db, account.id, { day: runningDay, now })],
    },
  );
}
