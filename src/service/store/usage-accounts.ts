import type { Database } from './database.ts';

/** Periods of the sign-in report, in days. */
export const loginSpans = [1, 7, 14, 30, 90];

/** The state of an account at the end of a day. For today, the account's current state. */
export interface AccountDay {
  readonly day: string;
  readonly lastLogin: number | null;
  /** -1 = no limit. */
  readonly seats: number;
  readonly users: number;
  readonly klips: number;
  readonly datasources: number;
  readonly dashboards: number;
  /** Total size of the documents that the account's instances show, in bytes. */
  readonly storage: number;
  /**
   * For each period in {@link loginSpans}, the number of users who last signed in within the period. The periods end at
   * the end of the day.
   */
  readonly logins: readonly number[];
}

const count = (table: string): string => `(select count(*) from ${table} where account_id = a.id)`;
const signedInSince = '(select count(*) from users where account_id = a.id and date_last_login >= ?)';

/** The statement's placeholders are the start times of the {@link loginSpans} periods. */
const state = `select a.id, a.last_sign_in as lastLogin, a.seats,
  ${count('users')} as users, ${count('klips')} as klips, ${count('datasources')} as datasources,
  ${count('tabs')} as dashboards,
  (select coalesce(sum(i.data_size), 0) from datasources d join datasource_instances i on i.datasource_id = d.id
    where d.account_id = a.id) as storage,
  json_array(${loginSpans.map(() => signedInSince).join(', ')}) as logins
  from accounts a`;

type Row = Omit<AccountDay, 'logins'> & { readonly logins: string };

const beginnings = (end: number): number[] => loginSpans.map((days) => end - days * 86_400_000);

/** Stores the state of every account at the end of this day. */
export function keepAccounts(db: Database, day: string, end: number): void {
  db.run(
    `insert or replace into usage_accounts (account_id, day, last_login, seats, users, klips, datasources, dashboards,
      storage, logins) select id, ?, lastLogin, seats, users, klips, datasources, dashboards, storage, logins
      from (${state})`,
    day,
    ...beginnings(end),
  );
}

/** Returns the account's current state. */
export function accountNow(db: Database, accountId: string, { day, now }: { day: string; now: number }): AccountDay {
  const row = db.get<Omit<Row, 'day'>>(`${state} where a.id = ?`, ...beginnings(now), accountId)!;
  return { ...row, day, logins: JSON.parse(row.logins) as number[] };
}

/** Returns an account's stored states from day `from` to day `to` inclusive, oldest first. */
export function accountDays(db: Database, accountId: string, from: string, to: string): AccountDay[] {
  const sql = `select day, last_login as lastLogin, seats, users, klips, datasources, dashboards, storage, logins
    from usage_accounts where account_id = ? and day between ? and ? order by day`;
  return db.all<Row>(sql, accountId, from, to).map((row) => ({ ...row, logins: JSON.parse(row.logins) as number[] }));
}
