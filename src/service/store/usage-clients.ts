import { type ClientStatus, clientStatuses, statusAt } from '../client-status.ts';
import type { Database } from './database.ts';

type States = Readonly<Record<ClientStatus, number>>;

/**
 * A company's clients on one day: how many were added and cancelled, and how many were in each state at the end of the
 * day.
 */
export interface ClientDay {
  readonly day: string;
  readonly added: number;
  /** Number of clients that were deleted or disabled. If a disabled client is deleted, it doesn't count again. */
  readonly cancelled: number;
  readonly states: States;
}

interface Changes {
  readonly added: number;
  readonly cancelled: number;
}

const none: Changes = { added: 0, cancelled: 0 };

/** Stores the state of every company's clients at the end of this day, and resets the current day's counts. */
export function keepClients(db: Database, day: string, end: number): void {
  const sql = `insert or replace into usage_clients (account_id, day, added, cancelled, states) values (?, ?, ?, ?, ?)`;
  for (const { id } of db.all<{ id: string }>('select id from accounts where parent_id is null')) {
    const { added, cancelled } = changesToday(db, id);
    db.run(sql, id, day, added, cancelled, JSON.stringify(statesOf(db, id, end)));
  }
  db.run('delete from clients_changed_today');
}

/** Returns the current state of the company's clients. */
export function clientsNow(db: Database, companyId: string, { day, now }: { day: string; now: number }): ClientDay {
  return { day, ...changesToday(db, companyId), states: statesOf(db, companyId, now) };
}

/** Returns the stored states of a company's clients from day `from` to day `to` inclusive, oldest first. */
export function clientDays(db: Database, companyId: string, from: string, to: string): ClientDay[] {
  const sql = `select day, added, cancelled, states from usage_clients
    where account_id = ? and day between ? and ? order by day`;
  const rows = db.all<Omit<ClientDay, 'states'> & { states: string }>(sql, companyId, from, to);
  return rows.map((row) => ({ ...row, states: JSON.parse(row.states) as States }));
}

function changesToday(db: Database, companyId: string): Changes {
  const sql = 'select added, cancelled from clients_changed_today where account_id = ?';
  return db.get<Changes>(sql, companyId) ?? none;
}

function statesOf(db: Database, companyId: string, at: number): States {
  const sql = `select status, created_at as createdAt, trial_extended as trialExtended from accounts where parent_id = ?`;
  const clients = db.all<Parameters<typeof statusAt>[0]>(sql, companyId);
  const counts = Object.fromEntries(clientStatuses.map((status) => [status, 0])) as Record<ClientStatus, number>;
  for (const client of clients) counts[statusAt(client, at)]++;
  return counts;
}
