import { cutText, type Extraction, Problem } from '#sdk';
import { mysqlCatalogue } from './catalogue-queries.ts';
import { mysqlDialect } from './dialects.ts';
import type { ConnectOptions, Driver } from './driver.ts';
import { MysqlSession } from './mysql-session.ts';
import { boundStatement, withoutQuoted } from './mysql-statement.ts';
import type { QueryValues } from './options.ts';
import { reportWarnings, type ServerWarnings } from './server-warnings.ts';

const reading = ['select', 'with', 'values', 'table', 'show', 'describe', 'desc', 'explain'];

/** Read-only privileges. */
const harmless =
  /^(?:usage|select|show (?:view|databases|create routine)|process|replication client|binlog monitor|(?:slave|replica) monitor|create temporary tables|lock tables)$/i;

/**
 * Rejects statements that can write even in a read-only transaction: a compound statement can end it and start another,
 * a procedure can do anything, `into outfile` writes a file, and administrative statements change the server. A
 * statement must therefore start with a read-only keyword, without a comment before it, because some versions execute
 * comments. Throws `DB_WRITE_REFUSED`.
 */
function refuseWrites(sql: string): void {
  for (const text of withoutQuoted(sql)) {
    const first = /^[\s(]*([a-z]*)/i.exec(text)?.[1]?.toLowerCase() ?? '';
    if (!reading.includes(first)) throw refused(sql, `it does not begin with a read-only keyword`);
    // OUTFILE is a reserved word: unless quoted, it has no other meaning.
    if (/\boutfile\b/i.test(text) || (/\binto\b/i.test(text) && /\bdumpfile\b/i.test(text)))
      throw refused(sql, 'it writes a file on the server');
  }
}

/** An account's write privileges, without duplicates, from the output of `show grants`. */
function writePrivileges(grants: readonly string[]): string[] {
  const listed = grants.flatMap((grant) => /^grant (.+?) on /is.exec(grant)?.[1]?.replaceAll(/\([^)]*\)/g, '') ?? []);
  const names = listed.flatMap((list) => list.split(',')).map((name) => name.trim());
  return [...new Set(names.filter((name) => !harmless.test(name) && name !== 'PROXY'))];
}

function refused(sql: string, because: string): Problem {
  return new Problem({
    code: 'DB_WRITE_REFUSED',
    family: 'job',
    message: `statement refused: ${because}`,
    seen: cutText(sql, 80),
    allowed: `one statement that begins with ${reading.join(', ')}`,
    next: 'use a query; turn a procedure into a query or a view',
  });
}

/** MySQL and MariaDB. */
export const mysql: Driver = {
  dialect: mysqlDialect,
  catalogue: mysqlCatalogue,
  async check(door) {
    const session = await MysqlSession.open(door);
    try {
      const [version, user, database] = await session.row(
        "select version(), substring_index(current_user(), '@', 1), coalesce(database(), 'no database')",
        door.signal,
      );
      const may = writePrivileges(await session.grants(door.signal));
      const warning =
        may.length === 0 ? '' : `; this account may write: ${may.slice(0, 4).join(', ')}${may.length > 4 ? ' …' : ''}`;
      return `${session.isMariadb ? 'MariaDB' : 'MySQL'} ${version?.split('-')[0]} as ${user} on ${database}${warning}`;
    } finally {
      await session.close();
    }
  },
  extract,
};

/** Warnings about the query's syntax rather than its values. */
const deprecations = ['1287', '1681', '3719', '3778'];

const fixes = {
  '1260': 'raise group_concat_max_len on the server, or for the account that the source uses',
  '1301': 'raise max_allowed_packet on the server, or return shorter values',
};

async function extract(door: ConnectOptions, query: QueryValues): Promise<Extraction> {
  const { source, signal } = door;
  refuseWrites(query.sql);
  const session = await MysqlSession.open(door);
  const hangUp = () => void session.cancel();
  const leave = async (whole: boolean) => {
    signal.removeEventListener('abort', hangUp);
    await (whole ? session.close() : session.cancel());
  };
  signal.addEventListener('abort', hangUp);
  try {
    await session.begin(door);
    const statement = await boundStatement(query, (sql) => session.prepare(sql, signal));
    const onWarnings = ({ list, isAll }: ServerWarnings) =>
      reportWarnings(
        { list: list.filter(({ code }) => !deprecations.includes(code)), isAll },
        { place: session.place, option: query.warnings, warn: door.warn, fixes },
      );
    return await session.read(statement, { signal, zeroDates: source.zero_dates, onWarnings, leave });
  } catch (thrown) {
    await leave(false);
    signal.throwIfAborted();
    throw thrown;
  }
}
