import type { SqliteValue } from '../../lib/sqlite.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Account } from './accounts.ts';
import type { Database } from './database.ts';
import { countRows } from './listing.ts';
import { administers, type SharedKind } from './shares.ts';

/**
 * Lists of the assets that a user may see, ordered by creation. No list scans a whole account. For an admin, a list is
 * an index range of the account. For any other user, it's a k-way merge of sorted index ranges, one for each reason why
 * an asset may be visible. The cost of reading a page therefore depends only on the page's offset and length.
 */

/** Describes a list: the assets' kind and account, and the caller who must be allowed to see them. */
export interface VisibleQuery {
  readonly kind: SharedKind;
  readonly account: Account;
  readonly caller: Caller;
}

/**
 * Returns one page of the assets that the caller may see. `columns` use the alias of the assets' table (`d`, `k` or
 * `t`).
 */
export function listVisible<T>(db: Database, seen: VisibleQuery, columns: string, page: Page): Listed<T> {
  const { sql, values } = merged(reasonsOf(db, seen), ({ created, id, from, where }) => {
    return `select ${created} as created, ${id} as id from ${from} where ${where}`;
  });
  const items = `select ${columns} from (${sql} order by 1, 2 limit ? offset ?) page
    join ${asTable(seen.kind)}.id = page.id order by page.created, page.id`;
  return {
    items: db.all<T>(items, ...values, page.limit, page.offset),
    total: countRows(db, `from (${sql}) page`, values),
  };
}

/** Returns one page of the instances whose data sources the caller may see. `columns` use the aliases `d` and `i`. */
export function listVisibleInstances<T>(
  db: Database,
  given: Omit<VisibleQuery, 'kind'>,
  columns: string,
  page: Page,
): Listed<T> {
  const seen = { kind: 'datasource', ...given } as const;
  const { sql, values } = merged(reasonsOf(db, seen), ({ created, id, from, where }) => {
    const named = `${created} as created, ${id} as id, i.created_at as instance_created, i.id as instance_id`;
    return `select ${named} from ${from} join datasource_instances i on i.datasource_id = ${id} where ${where}`;
  });
  const items = `select ${columns} from (${sql} order by 1, 2, 3, 4 limit ? offset ?) page
    join datasource_instances i on i.id = page.instance_id join ${asTable(seen.kind)}.id = page.id
    order by page.created, page.id, page.instance_created, page.instance_id`;
  return {
    items: db.all<T>(items, ...values, page.limit, page.offset),
    total: countRows(db, `from (${sql}) page`, values),
  };
}

const tables = { datasource: 'datasources', klip: 'klips', tab: 'tabs' } as const;

/**
 * Returns the table with its alias, which a list's columns use, and the start of the join condition, such as
 * `datasources d on d`.
 */
const asTable = (kind: SharedKind): string => `${tables[kind]} ${kind[0]} on ${kind[0]}`;

/** One reason why assets may be visible. The assets are an index range that is ordered by creation. */
interface Reason {
  readonly from: string;
  readonly where: string;
  /** SQL expressions for an asset's creation time and ID. */
  readonly created: string;
  readonly id: string;
  readonly values: readonly SqliteValue[];
}

/** Merges the index ranges. An asset that is visible for several reasons is listed only once. */
function merged(
  reasons: readonly Reason[],
  select: (reason: Reason) => string,
): { sql: string; values: SqliteValue[] } {
  return { sql: reasons.map(select).join(' union '), values: reasons.flatMap(({ values }) => values) };
}

function reasonsOf(db: Database, { kind, account, caller }: VisibleQuery): Reason[] {
  const made = { from: `${tables[kind]} m`, created: 'm.created_at', id: 'm.id' };
  if (administers(caller, kind)) return [{ ...made, where: 'm.account_id = ?', values: [account.id] }];
  const { id } = caller.user;
  const shared = { from: `${kind}_shares s`, created: 's.asset_created_at', id: `s.${kind}_id` };
  return [
    { ...made, where: 'm.created_by = ? and m.account_id = ?', values: [id, account.id] },
    { ...shared, where: heldAs('user', '= ?'), values: [id, account.id] },
    ...groupReasons(db, id).map(({ holder, value }) => {
      return { ...shared, where: heldAs('group', holder), values: [value, account.id] };
    }),
  ];
}

const heldAs = (kind: 'user' | 'group', holder: string): string =>
  `s.kind = '${kind}' and s.holder_id ${holder} and s.account_id = ?`;

/**
 * Maximum number of groups that have their own part in the union. With more parts, compiling the union would take
 * longer than the merge saves.
 */
const maxGroups = 50;

function groupReasons(db: Database, userId: string): { holder: string; value: string }[] {
  const groups = db.all<{ id: string }>('select group_id as id from group_members where user_id = ?', userId);
  if (groups.length <= maxGroups) return groups.map(({ id }) => ({ holder: '= ?', value: id }));
  return [{ holder: 'in (select group_id from group_members where user_id = ?)', value: userId }];
}
