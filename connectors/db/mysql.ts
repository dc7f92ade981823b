import type { Extraction } from '#sdk';
import type { ConnectOptions, Driver } from './driver.ts';
import { mysqlCatalogue, mysqlDialect } from './mysql-dialect.ts';
import { MysqlSession } from './mysql-session.ts';
import { boundStatement } from './mysql-statement.ts';
import { refuseWrites, writePrivileges } from './mysql-writes.ts';
import type { SqlQuery } from './options.ts';
import { reportWarnings, type ServerWarnings } from './server-warnings.ts';
import { servedBy } from './servers.ts';
import { transactionText, warnOfTransaction } from './transaction.ts';

/** MySQL and MariaDB. */
export const mysql: Driver = {
  dialect: mysqlDialect,
  catalogue: mysqlCatalogue,
  async check(options) {
    const session = await MysqlSession.open(options);
    try {
      const transaction = await session.begin(options);
      const [version, user, database] = await session.row(
        "select version(), substring_index(current_user(), '@', 1), coalesce(database(), 'no database')",
        options.signal,
      );
      const may = writePrivileges(await session.grants(options.signal));
      const warning =
        may.length === 0
          ? ''
          : `; this account has write privileges: ${may.slice(0, 4).join(', ')}${may.length > 4 ? ' …' : ''}`;
      const text = `${session.isMariadb ? 'MariaDB' : 'MySQL'} ${version?.split('-')[0]} as ${user} on ${database}`;
      return `${text}${servedBy(options.address, session.place)}${transactionText(transaction)}${warning}`;
    } finally {
      await session.close();
    }
  },
  extract,
};

/** Warnings that are about the query's syntax rather than its values. */
const deprecations = ['1287', '1681', '3719', '3778'];

const fixes = {
  '1260': 'raise group_concat_max_len on the server, or for the account that the source uses',
  '1301': 'raise max_allowed_packet on the server, or return shorter values',
};

async function extract(options: ConnectOptions, query: SqlQuery): Promise<Extraction> {
  const { source, signal } = options;
  refuseWrites(query.sql);
  const session = await MysqlSession.open(options);
  const hangUp = () => void session.cancel();
  const leave = async (whole: boolean) => {
    signal.removeEventListener('abort', hangUp);
    await (whole ? session.close() : session.cancel());
  };
  signal.addEventListener('abort', hangUp);
  try {
    warnOfTransaction(await session.begin(options), { ...options, place: session.place });
    const statement = await boundStatement(query, (sql) => session.prepare(sql, signal));
    const onWarnings = ({ list, isAll }: ServerWarnings) =>
      reportWarnings(
        { list: list.filter(({ code }) => !deprecations.includes(code)), isAll },
        { place: session.place, option: query.warnings, warn: options.warn, fixes },
      );
    return await session.read(statement, { signal, zeroDates: source.zero_dates, onWarnings, leave });
  } catch (thrown) {
    await leave(false);
    signal.throwIfAborted();
    throw thrown;
  }
}
