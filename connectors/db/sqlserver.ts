import { sqlserverCatalogue } from './catalogue-queries.ts';
import { sqlserverDialect } from './dialects.ts';
import type { Driver } from './driver.ts';
import { SqlserverSession } from './sqlserver-session.ts';

/** Driver for Microsoft SQL Server, and for Azure SQL with user and password. */
export const sqlserver: Driver = {
  dialect: sqlserverDialect,
  catalogue: sqlserverCatalogue,
  async check(door) {
    const session = await SqlserverSession.open(door);
    try {
      const [version, user, database] = await session.row(
        "select cast(serverproperty('productversion') as nvarchar(40)), suser_sname(), db_name()",
        door.signal,
      );
      return `SQL Server ${version} as ${user} on ${database}`;
    } finally {
      session.close();
    }
  },
  async extract(door, query) {
    const session = await SqlserverSession.open(door);
    try {
      await session.begin(door.signal);
      return await session.read(query, door.signal);
    } catch (thrown) {
      session.close();
      door.signal.throwIfAborted();
      throw thrown;
    }
  },
};
