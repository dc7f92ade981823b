import { easternDay } from '../limits/eastern-day.ts';
import { type AccountDay, accountDays, accountNow, loginSpans } from '../store/usage-accounts.ts';
import { daysWith, type ReportQuery, texts } from './report.ts';

const dayMs = 86_400_000;

export const accountStats = texts(
  'calendar_date',
  'last_login_calendar_date',
  'no_of_seats',
  'no_of_users',
  'no_of_klips',
  'no_of_data_sources',
  'no_of_scheduled_emails',
  'no_of_dashboards',
  'no_of_klip_templates',
  'no_of_embeds',
  'data_storage_size',
);

/**
 * Creates the rows of the account report. Scheduled e-mails, Klip templates and embeds aren't implemented, so their
 * counts are 0.
 */
export function accountStatsRows(asked: ReportQuery): object[] {
  return daysOf(asked).map((one) => ({
    calendar_date: one.day,
    last_login_calendar_date: dateOf(one.lastLogin),
    no_of_seats: String(one.seats),
    no_of_users: String(one.users),
    no_of_klips: String(one.klips),
    no_of_data_sources: String(one.datasources),
    no_of_scheduled_emails: '0',
    no_of_dashboards: String(one.dashboards),
    no_of_klip_templates: '0',
    no_of_embeds: '0',
    data_storage_size: String(one.storage),
  }));
}

const percentages = loginSpans.map((days) => (days === 1 ? '24h_login_percentage' : `${days}d_login_percentage`));

export const signInTrend = texts(
  'calendar_date',
  'last_login_calendar_date',
  'days_since_login',
  'no_of_seats',
  'no_of_users',
  ...percentages,
);

/** Creates the sign-in trend with one row per requested day. All values are strings, as in the API document. */
export function signInTrendRows(asked: ReportQuery): object[] {
  return daysOf(asked).map(({ day, lastLogin, seats, users, logins }) => ({
    calendar_date: day,
    last_login_calendar_date: dateOf(lastLogin),
    days_since_login: daysSince(lastLogin, day),
    no_of_seats: String(seats),
    no_of_users: String(users),
    ...Object.fromEntries(percentages.map((name, i) => [name, percentage(logins[i]!, users)])),
  }));
}

function daysOf({ db, account, now, runningDay, ...range }: ReportQuery): AccountDay[] {
  const [from, to] = [range.from.date, range.to.date];
  return daysWith(
    { from, to, runningDay },
    {
      over: accountDays(db, account.id, from, to),
      running: () => [accountNow(db, account.id, { day: runningDay, now })],
    },
  );
}

/** Formats a date. Returns an empty string if no user has signed in yet. */
function dateOf(time: number | null): string {
  return time === null ? '' : easternDay(time).date;
}

function daysSince(time: number | null, day: string): string {
  return time === null ? '' : String(Math.round((Date.parse(day) - Date.parse(dateOf(time))) / dayMs));
}

/** With at most two decimals. */
function percentage(part: number, all: number): string {
  return all === 0 ? '0' : String(Math.round((part / all) * 10_000) / 100);
}
