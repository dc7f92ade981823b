import type { Database } from './database.ts';

/** How much an account uses one connector at the end of a day. For today, how much it uses the connector now. */
export interface ConnectorDay {
  readonly day: string;
  readonly connector: string;
  readonly datasources: number;
  readonly instances: number;
}

const counts = 'count(distinct d.id) as datasources, count(i.id) as instances';
const from = 'from datasources d left join datasource_instances i on i.datasource_id = d.id';

/** Stores how much every account uses each connector at the end of this day. */
export function keepConnectors(db: Database, day: string): void {
  db.run(
    `insert or replace into usage_connectors (account_id, day, connector, datasources, instances)
     select d.account_id, ?, d.connector, ${counts} ${from} group by d.account_id, d.connector`,
    day,
  );
}

/** Returns how much the account currently uses each connector. */
export function connectorsNow(db: Database, accountId: string, day: string): ConnectorDay[] {
  const sql = `select ? as day, d.connector, ${counts} ${from} where d.account_id = ?
    group by d.connector order by d.connector`;
  return db.all<ConnectorDay>(sql, day, accountId);
}

/** Returns an account's stored use of connectors from day `first` to day `last` inclusive, oldest day first. */
export function connectorDays(db: Database, accountId: string, first: string, last: string): ConnectorDay[] {
  const sql = `select day, connector, datasources, instances from usage_connectors
    where account_id = ? and day between ? and ? order by day, connector`;
  return db.all<ConnectorDay>(sql, accountId, first, last);
}
