import { Problem } from '#sdk';
import type { SourceValues } from './options.ts';
import {
  type BeginForm,
  beginStrongest,
  exactSettingRefused,
  noTransaction,
  type OpenTransaction,
  settingRefused,
} from './transaction.ts';

/** The server's write timeout, which applies if the reader is slow: one day instead of the default of one minute. */
const writePatienceSeconds = 86_400;

/** Allows slow readers. */
const writeTimeout = `net_write_timeout = ${writePatienceSeconds}`;

const forms: readonly BeginForm[] = [
  { sql: 'start transaction with consistent snapshot, read only', isSnapshot: true, isReadOnly: true },
  { sql: 'start transaction read only', isSnapshot: false, isReadOnly: true },
  { sql: 'start transaction with consistent snapshot', isSnapshot: true, isReadOnly: false },
  { sql: 'start transaction', isSnapshot: false, isReadOnly: false },
  { sql: undefined, isSnapshot: false, isReadOnly: false },
];

/** The session is read-only too, because a DDL statement first ends the transaction and could then write. */
const sessionForms = {
  whole: 'set session transaction isolation level repeatable read, read only',
  readOnly: 'set session transaction read only',
};

interface Runner {
  /** Runs one statement. Throws a Problem with the server's error as its cause. */
  readonly run: (sql: string) => Promise<unknown>;
  readonly isMariadb: boolean;
}

/**
 * Begins a transaction with Sluice's settings and those of the source. A server that doesn't support the transaction or
 * the write timeout is read without them, but none is read without the time zone.
 */
export async function beginMysql({ run, isMariadb }: Runner, source: SourceValues): Promise<OpenTransaction> {
  let refusal: unknown;
  const accepts = async (sql: string) => {
    try {
      await run(sql);
      return true;
    } catch (thrown) {
      if (!isUnsupported(thrown)) throw thrown;
      refusal = thrown;
      return false;
    }
  };
  const set = async (name: string, value: string, refused: (name: string, cause: Problem) => Problem) => {
    await run(`set session ${name} = ${value}`).catch((thrown: unknown) => {
      throw thrown instanceof Problem && thrown.family === 'job' ? refused(name, thrown) : thrown;
    });
  };
  await run('set names utf8mb4');
  const unknownSettings: string[] = [];
  if (!(await accepts(`set session time_zone = '+00:00', ${writeTimeout}`))) {
    await set('time_zone', "'+00:00'", exactSettingRefused);
    if (!(await accepts(`set session ${writeTimeout}`))) unknownSettings.push('net_write_timeout');
  }
  for (const [name, value] of Object.entries({ ...source.session, ...timeout(source, isMariadb) })) {
    await set(name, literal(value), settingRefused);
  }
  const isRepeatable = await accepts(sessionForms.whole);
  const isReadOnly = isRepeatable || (await accepts(sessionForms.readOnly));
  if (!isReadOnly && source.transaction === 'read_only') throw noTransaction(refusal);
  const form = await beginStrongest(forms, source.transaction, { run, isUnsupported });
  return {
    isSnapshot: form.isSnapshot && isRepeatable,
    isReadOnly: form.isReadOnly && isReadOnly,
    unknownSettings,
    unsetValueSettings: [],
  };
}

/** MariaDB's timeout variable is in seconds and MySQL's is in milliseconds. Neither server has the other's variable. */
function timeout({ statement_timeout_seconds: seconds }: SourceValues, isMariadb: boolean): Record<string, number> {
  if (seconds === undefined) return {};
  return isMariadb ? { max_statement_time: seconds } : { max_execution_time: Math.ceil(seconds * 1000) };
}

/** A literal that means the same in every sql_mode. */
function literal(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value);
  return /^[^'\\]*$/.test(value) ? `'${value}'` : `_utf8mb4 0x${Buffer.from(value, 'utf8').toString('hex')}`;
}

/** Errors by which a server says that it doesn't know a statement, a variable or a feature. */
const unknown = [1064, 1193, 1235];

/** Whether the server doesn't support the statement. */
export function isUnsupported(thrown: unknown): boolean {
  if (!(thrown instanceof Problem)) return false;
  const { errno } = (thrown.cause ?? {}) as { errno?: number };
  return errno !== undefined && unknown.includes(errno);
}
