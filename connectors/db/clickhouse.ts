import { clickhouseCatalogue, clickhouseDialect } from './clickhouse-dialect.ts';
import { ClickhouseSession } from './clickhouse-session.ts';
import type { Driver } from './driver.ts';
import { servedBy } from './servers.ts';
import { noSnapshot } from './transaction.ts';

/** Driver for ClickHouse, over its HTTP interface. https://clickhouse.com/docs/interfaces/http */
export const clickhouse: Driver = {
  dialect: clickhouseDialect,
  catalogue: clickhouseCatalogue,
  async check(options) {
    const session = await ClickhouseSession.open(options);
    try {
      const { version, user, database } = session.greeting;
      return `ClickHouse ${version} as ${user} on ${database}${servedBy(options.address, session.place)}`;
    } finally {
      session.close();
    }
  },
  async extract(options, query) {
    const session = await ClickhouseSession.open(options);
    try {
      // Two queries don't see the same rows, because there are no transactions.
      if (options.needsSnapshot === true) throw noSnapshot(session.place);
      return await session.read(query, options);
    } catch (thrown) {
      session.close();
      options.signal.throwIfAborted();
      throw thrown;
    }
  },
};
