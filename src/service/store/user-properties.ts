import type { Database } from './database.ts';

/** Returns all properties of the user's account with the user's values. A value that isn't set is the empty string. */
export function userProperties(db: Database, user: { id: string; accountId: string }): Record<string, string> {
  const sql = `select n.name, coalesce(p.value, '') as value from user_property_names n
    left join user_properties p on p.account_id = n.account_id and p.name = n.name and p.user_id = ?
    where n.account_id = ? order by n.name`;
  const rows = db.all<{ name: string; value: string }>(sql, user.id, user.accountId);
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Sets the user's value for a property. If the property doesn't exist, creates it for all users in the account. */
export function setUserProperty(
  db: Database,
  user: { id: string; accountId: string },
  { name, value }: { name: string; value: string },
): void {
  const naming = 'insert into user_property_names (account_id, name) values (?, ?) on conflict do nothing';
  db.run(naming, user.accountId, name);
  const sql = `insert into user_properties (account_id, name, user_id, value) values (?, ?, ?, ?)
    on conflict do update set value = excluded.value`;
  db.run(sql, user.accountId, name, user.id, value);
}

/** Removes a property from all users in the account. Returns whether the property existed. */
export function dropUserProperty(db: Database, accountId: string, name: string): boolean {
  db.run('delete from user_properties where account_id = ? and name = ?', accountId, name);
  return db.run('delete from user_property_names where account_id = ? and name = ?', accountId, name) === 1;
}
