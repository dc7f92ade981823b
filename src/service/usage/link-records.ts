import { type ReportQuery, texts } from './report.ts';
import '../../lib/temporal.ts';

interface HourOfViews {
  readonly hour: number;
  readonly name: string;
  readonly isPublic: 0 | 1;
  readonly hasPassword: 0 | 1;
  readonly views: number;
}

export const linkViews = texts(
  'calendar_date',
  'time',
  'name',
  'is_public',
  'is_disabled',
  'has_password',
  'view_count',
);

const inRange = 'from published_link_views where account_id = ? and hour >= ? and hour < ?';

/**
 * Creates the rows of the report on views per hour. `is_disabled` is always `No`, because links can't be disabled, only
 * deleted.
 */
export function linkViewsRows({ db, account, from, to }: ReportQuery): object[] {
  const sql = `select hour, tab_name as name, is_public as isPublic, has_password as hasPassword, views ${inRange}
    order by hour, link_id`;
  return db.all<HourOfViews>(sql, account.id, from.start, to.end).map((one) => {
    const [date, time] = easternHour(one.hour);
    return {
      calendar_date: date,
      time,
      name: one.name,
      is_public: yesOrNo(one.isPublic),
      is_disabled: 'No',
      has_password: yesOrNo(one.hasPassword),
      view_count: String(one.views),
    };
  });
}

/** Returns each link's number of views in the range, with the dashboard's latest name. */
export function linkTotals({ db, account, from, to }: ReportQuery): object[] {
  const sql = `select link_id as published_link_id, max(hour), tab_name as dashboard_name, sum(views) as views ${inRange}
    group by link_id order by sum(views) desc, link_id`;
  return db
    .all<{ published_link_id: string; dashboard_name: string; views: number }>(sql, account.id, from.start, to.end)
    .map(({ published_link_id, dashboard_name, views }) => ({ published_link_id, dashboard_name, views }));
}

function easternHour(hour: number): [date: string, time: string] {
  const at = Temporal.Instant.fromEpochMilliseconds(hour).toZonedDateTimeISO('America/New_York');
  return [at.toPlainDate().toString(), at.toPlainTime().toString()];
}

const yesOrNo = (flag: 0 | 1): string => (flag === 1 ? 'Yes' : 'No');
