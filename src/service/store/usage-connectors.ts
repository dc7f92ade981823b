import type { Database } from './database.ts';

/** How much an account uses one connector: at the end of a day or, for today, currently. */
export interface ConnectorDay {
  readonly day: string;
  readonly connector: string;
  readonly datasources: number;
  readonly instances: number;
}

const counts = 'count(distinct d.id) as datasources, count(i.id) as instances';
const from = 'from datasources d left join datasource_instances i on i.datasource_id = d.id';

/** Stores every account's use of connectors as of the end of this day. */
export function keepConnectors(db: Database, day: string): void {
  db.run(
    `insert or replace into usage_connectors (account_id, day, connector, datasources, instances)
     select d.account_id, ?, d.connector, ${counts} ${from} group by d.account_id, d.connector`,
    day,
  );
}

/** The account's current use of connectors. */
export function connectorsNow(db: Database, accountId: string, day: string): ConnectorDay[] {
  const sql = `select ? as day, d.connector, ${counts} ${from} where d.account_id = ?
    group by d.connector order by d.connector`;
  return db.all<ConnectorDay>(sql, day, accountId);
}

/** Past days, oldest first; `first` and `last` are inclusive days. */
export function connectorDays(db: Database, accountId: string, first: string, last: string): ConnectorDay[] {
  const sql = `select day, connector, datasources, instances from usage_connectors
    where account_id = ? and day between ? and ? order by day, connector`;
  return db.all<ConnectorDay>(sql, accountId, first, last);
}
