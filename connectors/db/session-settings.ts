import type { DriverName, SourceValues } from './options.ts';

/** Settings with which values could change, rows could be missing, or writes could be possible. */
const reserved: Partial<Record<DriverName, RegExp>> = {
  postgres:
    /^((default_)?transaction_\w+|datestyle|timezone|intervalstyle|bytea_output|extra_float_digits|client_encoding|xmloption|xmlbinary|lc_monetary|zero_damaged_pages|ignore_checksum_failure)$/i,
  mysql:
    /^(autocommit|(transaction|tx)_\w+|completion_type|time_zone|character_set_\w+|collation_connection|sql_select_limit|(un)?names)$/i,
  clickhouse:
    /^(readonly|allow_ddl|limit|offset|extremes|\w*overflow_mode(_leaf)?|skip_unavailable_shards|(in|out)put_format_\w+|format_\w+|default_format|database|query|query_id|param_\w+|user|password|session_\w+|date_time_output_format|wait_end_of_query|compress|decompress|enable_http_compression|http_\w+|cancel_http_\w+)$/i,
};

const whatTheyCould = 'which could change values, leave out rows or allow writes';

/** Settings that can't be used, phrased so that they can follow the option's name. */
export function settingFaults({ session }: Pick<SourceValues, 'session'>, driver: DriverName | undefined): string[] {
  const names = Object.keys(session);
  if (names.length === 0 || driver === undefined) return [];
  const kind = driver === 'mariadb' ? 'mysql' : driver;
  const refused = reserved[kind];
  if (refused === undefined) return ['is only for PostgreSQL, MySQL, MariaDB and ClickHouse; remove it'];
  return names.flatMap((name) => {
    if (!/^[a-z_][a-z0-9_]*(\.[a-z0-9_]+)*$/i.test(name)) return [`has an invalid name: ${JSON.stringify(name)}`];
    return refused.test(name) ? [`cannot contain ${name}, ${whatTheyCould}; remove it`] : [];
  });
}

/** Which command-line options of a PostgreSQL server are allowed; undefined if all of these are. */
export function allowedInsteadOf(startupOptions: string): string | undefined {
  const names = settingsIn(startupOptions);
  if (names === undefined) return '-c name=value, --name=value';
  const refused = names.filter((name) => reserved.postgres?.test(name));
  return refused.length === 0 ? undefined : `settings other than ${refused.join(', ')}, ${whatTheyCould}`;
}

/**
 * The settings in command-line options, as PostgreSQL's `pg_split_opts` and `ParseLongOption` read them: words are
 * separated by spaces, a backslash escapes the next character, and a dash in a name means an underscore. Returns
 * undefined if there are other options, such as `-e`, which sets the date style. Words without a dash are for poolers,
 * such as `endpoint=name`.
 */
function settingsIn(startupOptions: string): readonly string[] | undefined {
  const words = [...startupOptions.matchAll(/(?:\\[\s\S]|[^ \t\n\v\f\r\\])+/g)]
    .map(([word]) => word.replaceAll(/\\([\s\S])/g, '$1'))
    .values();
  const names: string[] = [];
  for (const word of words) {
    if (!word.startsWith('-')) continue;
    const setting = word === '-c' ? words.next().value : /^-[c-](.+)/s.exec(word)?.[1];
    if (setting === undefined) return undefined;
    names.push(setting.split('=')[0]!.replaceAll('-', '_'));
  }
  return names;
}
