import type { Driver } from './driver.ts';
import { sqlserverCatalogue, sqlserverDialect } from './sqlserver-dialect.ts';
import { SqlserverSession } from './sqlserver-session.ts';

/** Driver for Microsoft SQL Server, and for Azure SQL with user and password. */
export const sqlserver: Driver = {
  dialect: sqlserverDialect,
  catalogue: sqlserverCatalogue,
  async check(options) {
    const session = await SqlserverSession.open(options);
    try {
      const [version, user, database] = await session.row(
        "select cast(serverproperty('productversion') as nvarchar(40)), suser_sname(), db_name()",
        options.signal,
      );
      return `SQL Server ${version} as ${user} on ${database}`;
    } finally {
      session.close();
    }
  },
  async extract(options, query) {
    const session = await SqlserverSession.open(options);
    try {
      await session.begin(options.signal);
      return await session.read(query, options.signal);
    } catch (thrown) {
      session.close();
      options.signal.throwIfAborted();
      throw thrown;
    }
  },
};
