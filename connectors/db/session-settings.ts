import type { DriverName, SourceValues } from './options.ts';

/** Settings with which values could change, rows could be missing, or writes could be possible. */
const reserved: Partial<Record<DriverName, RegExp>> = {
  postgres:
    /^((default_)?transaction_\w+|datestyle|timezone|intervalstyle|bytea_output|extra_float_digits|client_encoding|xmloption|xmlbinary|lc_monetary|zero_damaged_pages|ignore_checksum_failure)$/i,
  mysql:
    /^(autocommit|(transaction|tx)_\w+|completion_type|time_zone|character_set_\w+|collation_connection|sql_select_limit|(un)?names)$/i,
};

/** Settings that can't be used, phrased so that they can follow the option's name. */
export function settingFaults({ session }: Pick<SourceValues, 'session'>, driver: DriverName | undefined): string[] {
  const names = Object.keys(session);
  if (names.length === 0 || driver === undefined) return [];
  const kind = driver === 'mariadb' ? 'mysql' : driver;
  const own = reserved[kind];
  if (own === undefined) return ['is only for PostgreSQL, MySQL and MariaDB; remove it'];
  return names.flatMap((name) => {
    if (!/^[a-z_][a-z0-9_]*(\.[a-z0-9_]+)*$/i.test(name)) return [`has an invalid name: ${JSON.stringify(name)}`];
    return own.test(name)
      ? [`cannot contain ${name}, which could change values, leave out rows or allow writes; remove it`]
      : [];
  });
}
