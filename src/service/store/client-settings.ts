import type { Database } from './database.ts';

/** Returns a client's settings, ordered by name. Their values can have any type. */
export function clientSettings(db: Database, clientId: string): Record<string, unknown> {
  const sql = 'select name, value from client_settings where account_id = ? order by name';
  const rows = db.all<{ name: string; value: string }>(sql, clientId);
  return Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value) as unknown]));
}

export function setClientSetting(db: Database, clientId: string, name: string, value: unknown): void {
  const row = { accountId: clientId, name, value: JSON.stringify(value) };
  db.insert('client_settings', row, 'on conflict do update set value = excluded.value');
}
