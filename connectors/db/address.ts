import { Problem, readTlsFiles, registerSecret, type SourceAccount, type TlsTexts, tlsFileFaults } from '#sdk';
import type { DbTlsOptions, DriverName, QueryValues, SourceValues } from './options.ts';

/** A driver's connection parameters, taken from the `url` option or from the separate options. */
export interface ServerAddress {
  readonly driver: DriverName;
  readonly host: string;
  readonly port: number;
  readonly database: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

interface Fault {
  readonly option: string;
  readonly message: string;
}

const schemes: Readonly<Record<string, DriverName>> = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mysql:': 'mysql',
  'mariadb:': 'mariadb',
  'sqlserver:': 'sqlserver',
};
const defaultPort: Readonly<Record<DriverName, number>> = {
  postgres: 5432,
  mysql: 3306,
  mariadb: 3306,
  sqlite: 0,
  sqlserver: 1433,
};
const beside = ['host', 'port', 'database', 'user', 'password'] as const;

/** The driver; undefined if neither the URL nor the options specify it. */
export function driverOf(source: SourceValues): DriverName | undefined {
  if (source.driver !== undefined) return source.driver;
  if (source.file !== undefined && source.url === undefined) return 'sqlite';
  return source.url === undefined ? undefined : schemes[URL.parse(source.url)?.protocol ?? ''];
}

/**
 * The address, taken from the `url` option or from the separate options. The options must have passed {@link faultsOf}.
 */
export function addressOf(source: SourceValues): ServerAddress {
  const driver = driverOf(source) ?? 'postgres';
  const url = source.url === undefined ? undefined : URL.parse(source.url);
  const given = url ? partsOf(url) : source;
  // The whole URL is already registered as a secret. The password is registered too, because drivers may print only the
  // password.
  if (given.password !== undefined) registerSecret(given.password);
  return {
    driver,
    host: given.host ?? 'localhost',
    port: given.port ?? defaultPort[driver],
    database: given.database,
    user: given.user,
    password: given.password,
  };
}

/** A source's login; undefined for a file, which doesn't need a login. */
export function accountOf(source: SourceValues): SourceAccount | undefined {
  if (driverOf(source) === 'sqlite') return undefined;
  const { driver, host, port, user, password } = addressOf(source);
  const { tls, ssh } = source;
  const through = ssh === undefined ? '' : ` through ${ssh.user}@${ssh.host}`;
  return {
    place: `${host}:${port}${through}`,
    user,
    secret: { driver, password, tls, ssh },
    files: [tls.ca_file, tls.cert_file, tls.key_file, ssh?.private_key_file],
  };
}

function partsOf(url: URL) {
  const text = (part: string) => (part === '' ? undefined : decodeURIComponent(part));
  return {
    host: text(url.hostname.replace(/^\[(.*)\]$/, '$1')),
    port: url.port === '' ? undefined : Number(url.port),
    database: text(url.pathname.slice(1)),
    user: text(url.username),
    password: text(url.password),
  };
}

/** Checks that the options can be combined. Doesn't need network access. */
export function faultsOf({ source, query }: { source: SourceValues; query?: QueryValues }): Fault[] {
  const driver = driverOf(source);
  return [
    ...urlFaults(source),
    ...(driver === 'sqlite' ? fileFaults(source) : serverFaults(source, driver)),
    ...tlsFaults(source.tls),
    ...sshFaults(source, driver),
    ...(query === undefined ? [] : queryFaults(query, driver)),
  ];
}

function urlFaults({ url, driver, ...source }: SourceValues): Fault[] {
  if (url === undefined) return [];
  const parsed = URL.parse(url);
  const meant = schemes[parsed?.protocol ?? ''];
  if (!parsed || meant === undefined) {
    return [
      {
        option: 'url',
        message: 'must be a full URL that starts with postgres://, mysql://, mariadb:// or sqlserver://',
      },
    ];
  }
  const twice = beside.filter((name) => source[name] !== undefined);
  return [
    ...twice.map((option) => ({ option, message: 'is also in the URL; remove one of the two' })),
    ...(driver !== undefined && driver !== meant && !(isMysql(driver) && isMysql(meant))
      ? [{ option: 'driver', message: `is ${driver}, but the URL is for ${meant}` }]
      : []),
    ...(parsed.search === ''
      ? []
      : [{ option: 'url', message: 'must not have query parameters; set TLS and timeouts with options' }]),
    ...(canDecode(parsed)
      ? []
      : [{ option: 'url', message: 'has a % that does not start an escape sequence; write % as %25' }]),
  ];
}

function canDecode(url: URL): boolean {
  try {
    partsOf(url);
    return true;
  } catch {
    return false;
  }
}

function isMysql(driver: DriverName): boolean {
  return driver === 'mysql' || driver === 'mariadb';
}

function fileFaults(source: SourceValues): Fault[] {
  const useless = [...beside, 'url' as const].filter((name) => source[name] !== undefined);
  return [
    ...(source.file === undefined
      ? [{ option: 'file', message: 'is missing; set it to the SQLite database file' }]
      : []),
    ...useless.map((option) => ({ option, message: 'does not apply to SQLite; remove it' })),
    ...(source.tls.mode === 'off' ? [] : [{ option: 'tls', message: 'does not apply to SQLite; remove it' }]),
    ...(source.statement_timeout_seconds === 0
      ? []
      : [{ option: 'statement_timeout_seconds', message: 'does not apply to SQLite; remove it' }]),
  ];
}

function serverFaults(source: SourceValues, driver: DriverName | undefined): Fault[] {
  const nowhere = driver === undefined && source.url === undefined;
  const hasNoUser = driver !== undefined && addressOfUser(source) === undefined;
  return [
    ...(nowhere ? [{ option: 'driver', message: 'is missing; set driver or url' }] : []),
    ...(source.file === undefined ? [] : [{ option: 'file', message: 'is only for SQLite' }]),
    ...(hasNoUser
      ? [
          source.url === undefined
            ? { option: 'user', message: 'is missing' }
            : { option: 'url', message: 'has no user' },
        ]
      : []),
  ];
}

function queryFaults(
  { sql, cursor, lag, null_cursors: nulls, chunks }: QueryValues,
  driver: DriverName | undefined,
): Fault[] {
  const alone = 'requires cursor; set cursor to a column';
  return [
    ...(sql.trim() === ''
      ? [{ option: 'sql', message: 'is empty; set it to the statement that returns the rows' }]
      : []),
    ...(cursor === '' ? [{ option: 'cursor', message: 'is empty; set it to the name of a result column' }] : []),
    ...(cursor === undefined && lag !== undefined ? [{ option: 'lag', message: alone }] : []),
    ...(cursor === undefined && nulls !== 'refuse' ? [{ option: 'null_cursors', message: alone }] : []),
    ...(cursor !== undefined && chunks !== undefined
      ? [
          {
            option: 'chunks',
            message: 'cannot be combined with cursor, which reads only new rows; remove one of the two',
          },
        ]
      : []),
    ...(chunks !== undefined && driver === 'sqlite'
      ? [{ option: 'chunks', message: 'does not apply to SQLite, which has no network connection; remove it' }]
      : []),
  ];
}

function addressOfUser(source: SourceValues): string | undefined {
  return source.url === undefined ? source.user : URL.parse(source.url)?.username || undefined;
}

function sshFaults(source: SourceValues, driver: DriverName | undefined): Fault[] {
  const { ssh } = source;
  if (ssh === undefined) return [];
  if (driver === 'sqlite') return [{ option: 'ssh', message: 'does not apply to SQLite; remove it' }];
  const isKeyless = ssh.password === undefined && ssh.private_key_file === undefined;
  const isSocket = driver !== undefined && canDecodeUrl(source) && addressOf(source).host.startsWith('/');
  return [
    ...(isKeyless ? [{ option: 'ssh', message: 'requires private_key_file or password' }] : []),
    ...(ssh.passphrase !== undefined && ssh.private_key_file === undefined
      ? [{ option: 'ssh', message: 'has a passphrase, but no private_key_file' }]
      : []),
    ...(isSocket ? [{ option: 'ssh', message: 'can tunnel to a host and port, but not to a Unix socket' }] : []),
  ];
}

function canDecodeUrl({ url }: SourceValues): boolean {
  const parsed = url === undefined ? undefined : URL.parse(url);
  return parsed === undefined || (parsed !== null && canDecode(parsed));
}

function tlsFaults(tls: DbTlsOptions): Fault[] {
  const files = [tls.ca_file, tls.cert_file, tls.key_file, tls.servername].some((given) => given !== undefined);
  return [
    ...(tls.mode === 'off' && files
      ? [{ option: 'tls', message: 'is off, but certificate options are set; set mode to verify' }]
      : []),
    ...tlsFileFaults(tls).map((message) => ({ option: 'tls', message })),
  ];
}

/** TLS settings with the contents of their files; undefined if TLS is off. */
export interface Tls extends TlsTexts {
  readonly rejectUnauthorized: boolean;
  readonly servername?: string;
}

/** Reads the TLS files. Their paths are relative to `folder`. Throws `DB_TLS_FILE` if a file can't be read. */
export async function readTls(tls: DbTlsOptions, folder: string): Promise<Tls | undefined> {
  if (tls.mode === 'off') return undefined;
  return {
    rejectUnauthorized: tls.mode === 'verify',
    ...(await readTlsFiles(tls, folder, badFile)),
    servername: tls.servername,
  };
}

function badFile(_option: string, path: string, cause: unknown): Problem {
  return new Problem({
    code: 'DB_TLS_FILE',
    family: 'config',
    message: `cannot read a file named in the tls options: ${path}`,
    next: "fix the path or the file's permissions",
    cause,
  });
}
