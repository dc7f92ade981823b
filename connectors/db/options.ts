import { type OptionValues, option, type TlsFiles, tlsFileSchemas } from '#sdk';

export const drivers = ['postgres', 'mysql', 'mariadb', 'sqlite', 'sqlserver'] as const;
export type DriverName = (typeof drivers)[number];

/** TLS towards the server. `require` encrypts and checks nothing; `verify` also checks certificate and name. */
export interface DbTlsOptions extends TlsFiles {
  readonly mode: 'off' | 'require' | 'verify';
}

const tlsSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['mode'],
  properties: {
    mode: {
      enum: ['off', 'require', 'verify'],
      description: 'require encrypts but believes any server; verify also checks its certificate and name.',
    },
    ...tlsFileSchemas,
  },
};

/** How to log in on the SSH server that leads to the database. */
export interface SshOptions {
  readonly host: string;
  readonly port?: number;
  readonly user: string;
  readonly password?: string;
  readonly private_key_file?: string;
  readonly passphrase?: string;
  readonly host_key?: string;
  readonly known_hosts_file?: string;
}

const sshSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['host', 'user'],
  properties: {
    host: { type: 'string', minLength: 1, description: 'Name or address of the SSH server.' },
    port: { type: 'integer', minimum: 1, maximum: 65_535, description: 'Its port; 22 when left out.' },
    user: { type: 'string', minLength: 1, description: 'Who we are there.' },
    password: { type: 'string', writeOnly: true, description: 'The password of that user, where it has no key.' },
    private_key_file: { type: 'string', description: 'File of the private key to log in with.' },
    passphrase: { type: 'string', writeOnly: true, description: 'What unlocks the private key.' },
    host_key: {
      type: 'string',
      pattern: '^SHA256:[A-Za-z0-9+/]{43}=?$',
      description: 'Fingerprint of the one host key that is believed. Wins over known_hosts_file.',
    },
    known_hosts_file: {
      type: 'string',
      description: 'File with the host keys that are believed; ~/.ssh/known_hosts when left out.',
    },
  },
};

export const source = {
  driver: option.choice(drivers, {
    about: 'Which kind of database it is; may be left out where the url says it.',
    example: 'postgres',
  }),
  url: option.text({
    about: 'Address, user, password and database in one line, instead of the separate options.',
    example: `postgres://reader:\${env:DB_PASSWORD}@db.example.com/shop`,
    secret: true,
  }),
  host: option.text({
    about:
      'Name or address of the server; or, beginning with a slash, the folder (PostgreSQL) or file (MySQL) of its socket.',
    example: 'db.example.com',
  }),
  port: option.integer({
    minimum: 1,
    maximum: 65_535,
    about: 'Port of the server; 5432 for PostgreSQL, 3306 for MySQL and MariaDB and 1433 for SQL Server when left out.',
    example: 5433,
  }),
  database: option.text({ about: 'Name of the database.', example: 'shop' }),
  user: option.text({ about: 'Who we are there; one that may only read is best.', example: 'reader' }),
  password: option.text({ about: 'The password of that user.', example: `\${env:DB_PASSWORD}`, secret: true }),
  file: option.text({
    about: 'The file of a SQLite database, meant from the folder of the config file.',
    example: 'data/shop.sqlite',
  }),
  tls: option.schema<DbTlsOptions>(tlsSchema, {
    about: 'Encryption on the way to the server.',
    default: { mode: 'off' },
    example: { mode: 'verify', ca_file: 'ca.pem' },
  }),
  ssh: option.schema<SshOptions | undefined>(sshSchema, {
    about:
      'An SSH server to go through; host and port of the database are then meant as that server sees them. A host key that nobody vouches for is refused.',
    example: { host: 'gate.example.com', user: 'tunnel', private_key_file: 'id_ed25519' },
  }),
  connect_timeout_seconds: option.number({
    minimum: 0.1,
    default: 10,
    about: 'How long connecting and logging in may take.',
  }),
  statement_timeout_seconds: option.number({
    minimum: 0,
    default: 0,
    about: 'How long the server may work on the query before it gives up; 0 is no limit.',
  }),
  connections: option.integer({
    minimum: 1,
    default: 4,
    about: 'How many jobs of one process may read from this server at a time; the others wait for their turn.',
  }),
  zero_dates: option.choice(['refuse', 'null'], {
    default: 'refuse',
    about: 'MySQL and MariaDB: what a date like 0000-00-00, which is in no calendar, becomes: an error, or null.',
  }),
};

/** A table too big for one statement is read a chunk at a time. */
export interface ChunkOptions {
  readonly column: string;
  readonly rows: number;
}

const chunkSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['column', 'rows'],
  properties: {
    column: {
      type: 'string',
      description: 'A column of the result that is unique and never null; the primary key is best.',
    },
    rows: { type: 'integer', minimum: 1, description: 'Rows of each chunk; 100000 is a good number.' },
  },
};

const lagSchema = {
  type: ['integer', 'string'],
  minimum: 0,
  pattern: '^[0-9]{1,9}[smhd]$',
};

/** A value bound to a placeholder of the query. */
export type SqlParameter = string | number | boolean | null;

export const query = {
  sql: option.text({
    required: true,
    about: 'One statement that returns rows; it runs in a read-only transaction.',
    example: 'select id, customer, amount from orders where country = $1 order by id',
  }),
  parameters: option.list<SqlParameter>(
    { type: ['string', 'number', 'boolean', 'null'] },
    {
      about:
        'Values for the placeholders, in order: $1, $2 … for PostgreSQL, @p1, @p2 … for SQL Server, ? for the others. They are values, never SQL.',
      example: ['DE'],
    },
  ),
  warnings: option.choice(['tell', 'refuse'], {
    default: 'tell',
    about:
      'PostgreSQL, MySQL and MariaDB: what becomes of warnings of the server, of values that it cut for instance: the run tells them, or fails.',
  }),
  fetch_rows: option.integer({
    minimum: 0,
    default: 50_000,
    about:
      'PostgreSQL: rows per slice of the server-side cursor; 0 runs the query in one go, which lets the server work in parallel.',
  }),
  cursor: option.text({
    about:
      'Read only rows that are new since the last run: a column of the result that grows with every row added or changed. `write` says what becomes of the rows before.',
    example: 'updated_at',
  }),
  lag: option.schema<string | number | undefined>(lagSchema, {
    about:
      'cursor: how far before its highest value the next run begins, for rows that are committed late: 30s, 10m, 2h, 1d; a number for a column of numbers. Rows read already do not come again.',
    example: '10m',
  }),
  null_cursors: option.choice(['refuse', 'leave_out'], {
    default: 'refuse',
    about:
      'cursor: what becomes of rows without a value in that column: an error that names the row, or they are left out.',
  }),
  chunks: option.schema<ChunkOptions | undefined>(chunkSchema, {
    about:
      'Read so many rows at a time, each chunk a statement of its own and as of its own moment, and go on behind the last row after a lost connection.',
    example: { column: 'id', rows: 100_000 },
  }),
};

export type SourceValues = OptionValues<typeof source>;
export type QueryValues = OptionValues<typeof query>;
