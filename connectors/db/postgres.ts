import type { Extraction } from '#sdk';
import type { ConnectOptions, Driver } from './driver.ts';
import type { SqlQuery } from './options.ts';
import { isUnsupported } from './postgres-begin.ts';
import { postgresCatalogue, postgresDialect } from './postgres-dialect.ts';
import { PostgresSession } from './postgres-session.ts';
import { reportWarnings, type ServerWarnings } from './server-warnings.ts';
import { servedBy } from './servers.ts';
import { transactionText, warnOfTransaction } from './transaction.ts';

/** Driver for PostgreSQL and compatible servers. */
export const postgres: Driver = {
  dialect: postgresDialect,
  catalogue: postgresCatalogue,
  async check(options) {
    const session = await PostgresSession.open(options);
    try {
      // The check uses a transaction, as a run does, because a pooler or a compatible server may not support
      // transactions.
      const transaction = await session.begin(options);
      const { user = '', database = user } = options.address;
      const [role = user, place = database] = await session
        .row('select current_user::text, current_database()::text')
        .catch((thrown: unknown) => {
          if (isUnsupported(thrown)) return [];
          throw thrown;
        });
      const text = `PostgreSQL ${session.version} as ${role} on ${place}`;
      return `${text}${servedBy(options.address, session.place)}${transactionText(transaction)}`;
    } finally {
      await session.close();
    }
  },
  extract,
};

async function extract(options: ConnectOptions, query: SqlQuery): Promise<Extraction> {
  const { signal } = options;
  const session = await PostgresSession.open(options);
  const hangUp = () => void session.cancel();
  signal.addEventListener('abort', hangUp);
  try {
    warnOfTransaction(await session.begin(options), { ...options, place: session.place });
    const wire = await session.describe(query.sql);
    const leave = async (whole: boolean) => {
      signal.removeEventListener('abort', hangUp);
      await (whole ? session.close() : session.cancel());
    };
    const onWarnings = (warnings: ServerWarnings) => {
      reportWarnings(warnings, { place: session.place, option: query.warnings, warn: options.warn });
      if (session.textWarning !== undefined) options.warn?.(session.textWarning);
    };
    return session.read(wire, query, { signal, onWarnings, leave });
  } catch (thrown) {
    signal.removeEventListener('abort', hangUp);
    await session.cancel();
    signal.throwIfAborted();
    throw thrown;
  }
}
