import { type OptionValues, option } from '#sdk';
import { type DbTlsOptions, type SshOptions, sshSchema, tlsSchema } from './secure-options.ts';

export const drivers = [
  'postgres',
  'mysql',
  'mariadb',
  'sqlite',
  'sqlserver',
  'clickhouse',
  'duckdb',
  'bigquery',
  'snowflake',
] as const;
export type DriverName = (typeof drivers)[number];

/**
 * Which servers a PostgreSQL source reads from, by libpq's names.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-TARGET-SESSION-ATTRS
 */
export const targetSessions = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
export type TargetSession = (typeof targetSessions)[number];

/** What to do with text whose bytes aren't valid in its encoding. */
const badTexts = ['refuse', 'replace', 'base64'] as const;

/** Timeout for connecting and logging in, if neither the options nor the URL set one. */
export const defaultConnectSeconds = 10;

/** The value of a setting of the database session. */
export type SettingValue = string | number | boolean;

export const source = {
  driver: option.choice(drivers, {
    about: 'Kind of database. Default: the kind in the URL’s scheme.',
    example: 'postgres',
  }),
  url: option.text({
    about: 'Connection URL with host, user, password and database. Use it instead of the separate options.',
    example: `postgres://reader:\${env:DB_PASSWORD}@db.example.com/shop`,
    secret: true,
  }),
  host: option.text({
    about:
      'Host name or address of the server. For a Unix socket: the absolute path of its folder (PostgreSQL) or file (MySQL). Several hosts, separated by commas, are tried in order; each can have its own port (db1:5433).',
    example: 'db.example.com',
  }),
  project: option.text({
    about: 'BigQuery: the project that runs the queries, and pays for them.',
    example: 'my-project',
  }),
  port: option.integer({
    minimum: 1,
    maximum: 65_535,
    about:
      'Port of the server. Default: 5432 for PostgreSQL, 3306 for MySQL and MariaDB, 1433 for SQL Server, 8123 for ClickHouse, 8443 for ClickHouse with TLS.',
    example: 5433,
  }),
  database: option.text({ about: 'Name of the database. BigQuery: of the dataset.', example: 'shop' }),
  user: option.text({ about: 'User name; a read-only user is best.', example: 'reader' }),
  password: option.text({
    about: 'Password of the user. BigQuery and Snowflake: an access token.',
    example: `\${env:DB_PASSWORD}`,
    secret: true,
  }),
  private_key_file: option.text({
    about: "Snowflake: the user's private key (PEM), instead of a password, relative to the config file's folder.",
    example: 'snowflake.pem',
  }),
  passphrase: option.text({ about: 'Passphrase of the private key.', example: `\${env:KEY_PASSPHRASE}`, secret: true }),
  file: option.text({
    about: "SQLite or DuckDB database file, relative to the config file's folder.",
    example: 'data/shop.sqlite',
  }),
  parquet: option.map<string | readonly string[]>(
    {
      anyOf: [
        { type: 'string', minLength: 1 },
        { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
      ],
    },
    {
      about:
        "DuckDB: tables that are Parquet files. For each table, its name, and a path, a glob or a list of these, relative to the config file's folder.",
      example: { sales: 'exports/sales-*.parquet' },
    },
  ),
  target_session_attrs: option.choice(targetSessions, {
    about:
      'PostgreSQL: which of several hosts to read from, depending on whether it accepts writes. Default: the URL’s value, or any.',
    example: 'prefer-standby',
  }),
  passfile: option.text({
    about: "PostgreSQL: password file in the format of ~/.pgpass, relative to the config file's folder.",
    example: 'pgpass',
  }),
  service: option.text({
    about:
      'PostgreSQL: name of a section in the connection service file, which sets what the other options do not set.',
    example: 'shop',
  }),
  service_file: option.text({
    about:
      "With service: the connection service file, relative to the config file's folder. Default: ~/.pg_service.conf.",
    example: 'pg_service.conf',
  }),
  tls: option.schema<DbTlsOptions>(tlsSchema, {
    about: 'TLS encryption of the connection. Takes precedence over the URL.',
    default: {},
    example: { mode: 'verify', ca_file: 'ca.pem' },
  }),
  ssh: option.schema<SshOptions | undefined>(sshSchema, {
    about:
      'SSH server to tunnel through. It connects to the database’s host and port, so set them as that server sees them. Unknown host keys are refused.',
    example: { host: 'gate.example.com', user: 'tunnel', private_key_file: 'id_ed25519' },
  }),
  connect_timeout_seconds: option.number({
    minimum: 0.1,
    about: 'Timeout for connecting and logging in to one server. Default: the URL’s value, or 10.',
    example: 30,
  }),
  statement_timeout_seconds: option.number({
    minimum: 0,
    about: 'Query timeout on the server; 0 means no limit. Default: the limit that the server has for this user.',
    example: 600,
  }),
  transaction: option.choice(['read_only', 'none'], {
    default: 'read_only',
    about:
      'PostgreSQL, MySQL and MariaDB: `none` also allows servers that do not support read-only transactions. Sluice uses the strongest transaction that the server supports.',
  }),
  session: option.map<SettingValue>(
    { type: ['string', 'number', 'boolean'] },
    {
      about:
        'PostgreSQL, MySQL, MariaDB, ClickHouse, DuckDB, BigQuery and Snowflake: settings of the session, such as search_path, group_concat_max_len, memory_limit, maximum_bytes_billed or warehouse.',
      example: { search_path: 'reporting', work_mem: '64MB' },
    },
  ),
  connections: option.integer({
    minimum: 1,
    default: 4,
    about: 'Maximum number of jobs in one process that read from this server at the same time; other jobs wait.',
  }),
  encoding: option.text({
    about:
      'PostgreSQL databases with the encoding SQL_ASCII, SQLite and ClickHouse: the encoding of their text. Default: UTF-8.',
    example: 'windows-1252',
  }),
  bad_text: option.choice(badTexts, {
    default: 'refuse',
    about:
      'PostgreSQL databases with the encoding SQL_ASCII, SQLite and ClickHouse: what to do with text that is not valid in its encoding. It fails the run, each invalid character becomes U+FFFD, or the whole text becomes base64.',
  }),
  zero_dates: option.choice(['refuse', 'null'], {
    default: 'refuse',
    about: 'MySQL and MariaDB: whether an invalid date such as 0000-00-00 fails the run or becomes null.',
  }),
};

/** Options for reading a table in chunks if it's too large for one statement. */
export interface ChunkOptions {
  /** Undefined for the table's primary key. */
  readonly column?: string | readonly [string, ...string[]];
  readonly rows: number;
  /** Inclusive lower bound of the first column. */
  readonly from?: string | number;
  /** Exclusive upper bound of the first column. */
  readonly to?: string | number;
}

const chunkSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['rows'],
  properties: {
    column: {
      anyOf: [
        { type: 'string', minLength: 1 },
        { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true },
      ],
      description:
        'One or more columns of the result that are never null and together unique. Default with table: the primary key.',
    },
    rows: { type: 'integer', minimum: 1, description: 'Rows per chunk; 100000 is a good value.' },
    from: {
      type: ['string', 'integer'],
      description: 'Reads only rows whose value in the first column is at least this one.',
    },
    to: { type: ['string', 'integer'], description: 'Reads only rows whose value in the first column is lower.' },
  },
};

const lagSchema = {
  type: ['integer', 'string'],
  minimum: 0,
  pattern: '^[0-9]{1,9}[smhd]$',
};

/** A value that is bound to one of the query's placeholders. */
export type SqlParameter = string | number | boolean | null;

export const query = {
  sql: option.text({
    about: 'One statement that returns rows; it runs in a read-only transaction (see `transaction`).',
    example: 'select id, customer, amount from orders where country = $1 order by id',
  }),
  table: option.text({
    about:
      'A table or view to read instead of `sql`, such as orders or public.orders, in the exact spelling that `sluice discover` shows.',
    example: 'public.orders',
  }),
  columns: option.list<string>(
    { type: 'string', minLength: 1 },
    { about: 'With table: the columns to read. Default: all columns.', example: ['id', 'customer', 'amount'] },
  ),
  parameters: option.list<SqlParameter>(
    { type: ['string', 'number', 'boolean', 'null'] },
    {
      about:
        'With sql: placeholder values, in order: $1, $2 … for PostgreSQL and DuckDB; @p1, @p2 … for SQL Server and BigQuery; {p1:String}, {p2:UInt64} … for ClickHouse; ? for the others. They are bound, never inserted into the SQL.',
      example: ['DE'],
    },
  ),
  warnings: option.choice(['tell', 'refuse'], {
    default: 'tell',
    about:
      'PostgreSQL, MySQL and MariaDB: whether server warnings, for example about truncated values, are reported or fail the run.',
  }),
  fetch_rows: option.integer({
    minimum: 0,
    default: 50_000,
    about:
      'PostgreSQL: rows per fetch of the server-side cursor; 0 runs the query without a cursor, which allows parallel workers.',
  }),
  cursor: option.text({
    about:
      'A column of the result that increases with every added or changed row. A run then reads only the rows that are new since the last run. `write` controls what happens to earlier rows.',
    example: 'updated_at',
  }),
  lag: option.schema<string | number | undefined>(lagSchema, {
    about:
      'With cursor: how far before the highest value the next run starts, so that it finds rows that were committed late. Examples: 30s, 10m, 2h, 1d; for a numeric column, a number. Rows that were already read are skipped.',
    example: '10m',
  }),
  null_cursors: option.choice(['refuse', 'leave_out'], {
    default: 'refuse',
    about: 'With cursor: whether rows with null in the cursor column fail the run or are skipped.',
  }),
  chunks: option.schema<ChunkOptions | undefined>(chunkSchema, {
    about:
      'Reads the rows in chunks, each with its own statement and snapshot. If the connection is lost, reading continues after the last row.',
    example: { column: 'id', rows: 100_000 },
  }),
};

export type SourceValues = OptionValues<typeof source>;
export type QueryValues = OptionValues<typeof query>;
/** A query whose statement is known: the `sql` option, or the statement that reads `table`. */
export type SqlQuery = QueryValues & { readonly sql: string };
