import { type HostPort, isPort } from './connection-url.ts';
import { type DbTlsOptions, type DriverName, type TargetSession, targetSessions } from './options.ts';

/** What the parameters of a URL or the entries of a connection service set. */
export interface ParameterValues {
  readonly hosts?: readonly HostPort[];
  /** One port for all hosts, or one for each. */
  readonly ports?: readonly number[];
  readonly database?: string;
  readonly user?: string;
  readonly password?: string;
  readonly target?: TargetSession;
  /** The server's command-line options for the session. */
  readonly startupOptions?: string;
  readonly applicationName?: string;
  readonly connectSeconds?: number;
  /** Whether the login must be bound to the TLS connection (SCRAM-SHA-256-PLUS). */
  readonly hasChannelBinding?: boolean;
  readonly tls?: Partial<DbTlsOptions>;
}

/** A parameter that can't be used. */
export interface ParameterFault {
  /** Phrased so that it can follow the name of the option that contains the parameter. */
  readonly message: string;
  /** Whether the parameter sets the TLS mode, which the tls option can replace. */
  readonly isTlsMode: boolean;
}

/** The values that a parameter sets; otherwise, the allowed values. */
type Take = (value: string) => ParameterValues | Refused;

interface Refused {
  readonly allowed: string;
}

/** One of these words. Their values are what they set. */
function oneOf(words: Readonly<Record<string, ParameterValues>>): Take {
  return (value) => words[value.toLowerCase().replaceAll('_', '-')] ?? { allowed: Object.keys(words).join(', ') };
}

const file = (option: 'ca_file' | 'cert_file' | 'key_file'): Take => {
  return (path) => (path === '' ? { allowed: 'the path of a file' } : { tls: { [option]: path } });
};
const tlsMode = (mode: DbTlsOptions['mode']): ParameterValues => ({ tls: { mode } });
const nothing: ParameterValues = {};

/** `sslrootcert=system` means the authorities that the system trusts, which are Node's here. */
const rootCertificate: Take = (path) => (path === 'system' ? tlsMode('verify') : file('ca_file')(path));

/** As libpq does: zero and negative numbers mean no timeout, which isn't supported. */
const connectTimeout: Take = (value) =>
  /^\d+$/.test(value) && Number(value) > 0 ? { connectSeconds: Number(value) } : { allowed: 'a number of seconds' };

/** The path of a socket may contain colons, as Google Cloud SQL's do. */
function hosts(text: string): ParameterValues {
  return { hosts: text.split(',').map((host) => ({ host })) };
}

const common: Readonly<Record<string, Take>> = {
  host: hosts,
  port: (text) => {
    const ports = text.split(',');
    return ports.every(isPort) ? { ports: ports.map(Number) } : { allowed: 'numbers from 1 to 65535' };
  },
  user: (user) => ({ user }),
  password: (password) => ({ password }),
  // Parameters of other programs' connection pools.
  pgbouncer: () => nothing,
  connection_limit: () => nothing,
  pool_timeout: () => nothing,
};

/** https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS */
const postgres: Readonly<Record<string, Take>> = {
  ...common,
  dbname: (database) => ({ database }),
  sslmode: oneOf({
    disable: tlsMode('off'),
    require: tlsMode('require'),
    'verify-ca': tlsMode('verify-ca'),
    'verify-full': tlsMode('verify'),
  }),
  ssl: oneOf({ true: tlsMode('require'), false: tlsMode('off') }),
  sslrootcert: rootCertificate,
  sslcert: file('cert_file'),
  sslkey: file('key_file'),
  gssencmode: oneOf({ disable: nothing, prefer: nothing }),
  channel_binding: oneOf({ disable: nothing, prefer: nothing, require: { hasChannelBinding: true } }),
  options: (startupOptions) => ({ startupOptions }),
  application_name: (applicationName) => ({ applicationName }),
  fallback_application_name: () => nothing,
  connect_timeout: connectTimeout,
  client_encoding: oneOf({ utf8: nothing, 'utf-8': nothing, auto: nothing }),
  target_session_attrs: oneOf(Object.fromEntries(targetSessions.map((target) => [target, { target }]))),
};

/** https://dev.mysql.com/doc/refman/8.4/en/connecting-using-uri-or-key-value-pairs.html, and what hosters write. */
const mysql: Readonly<Record<string, Take>> = {
  ...common,
  socket: hosts,
  unix_socket: hosts,
  'ssl-mode': oneOf({
    disabled: tlsMode('off'),
    required: tlsMode('require'),
    'verify-ca': tlsMode('verify-ca'),
    'verify-identity': tlsMode('verify'),
  }),
  ssl: oneOf({ true: tlsMode('verify'), '{"rejectunauthorized":true}': tlsMode('verify') }),
  sslaccept: oneOf({ strict: tlsMode('verify') }),
  'ssl-ca': file('ca_file'),
  'ssl-cert': file('cert_file'),
  'ssl-key': file('key_file'),
  charset: oneOf({ utf8mb4: nothing, utf8: nothing }),
};

const known: Readonly<Record<DriverName, Readonly<Record<string, Take>>>> = {
  postgres,
  mysql,
  mariadb: mysql,
  sqlite: {},
  sqlserver: {},
};

/** Clients spell a parameter differently: `ssl-mode`, `ssl_mode`, `sslMode`. */
const normalized = (name: string) => name.toLowerCase().replaceAll(/[-_]/g, '');

/** Modes with which a connection may be unencrypted although it could be encrypted. */
const opportunistic = /^(allow|prefer(red)?)$/i;

/**
 * Reads parameters by the names that the servers' own clients use. Unknown parameters are faults, because they may
 * change what is read.
 */
export function readParameters(
  driver: DriverName,
  parameters: Iterable<readonly [name: string, value: string]>,
): { readonly values: ParameterValues; readonly faults: readonly ParameterFault[] } {
  let values: ParameterValues = {};
  const faults: ParameterFault[] = [];
  for (const [name, value] of parameters) {
    const taken = take(driver, name, value);
    if ('message' in taken) faults.push(taken);
    else values = { ...values, ...taken, tls: { ...values.tls, ...taken.tls } };
  }
  return { values, faults };
}

function take(driver: DriverName, name: string, value: string): ParameterValues | ParameterFault {
  const key = normalized(name);
  const [, read] = Object.entries(known[driver]).find(([one]) => normalized(one) === key) ?? [];
  if (read === undefined) return { message: unknownMessage(driver, name), isTlsMode: false };
  const isTlsMode = tlsModes.includes(key);
  if (isTlsMode && opportunistic.test(value)) return { message: opportunisticMessage(`${name}=${value}`), isTlsMode };
  const taken = read(value);
  if (!('allowed' in taken)) return taken;
  return { message: `has ${name}=${value}, which is not valid; allowed: ${taken.allowed}`, isTlsMode };
}

const tlsModes = ['ssl', 'sslmode', 'sslaccept'];

function opportunisticMessage(seen: string): string {
  return `has ${seen}, with which the connection is unencrypted if the server does not offer TLS; use require instead, or set tls.mode, which takes precedence over the URL`;
}

function unknownMessage(driver: DriverName, name: string): string {
  const names = Object.keys(known[driver]);
  const allowed = names.length === 0 ? 'none' : names.join(', ');
  return `has the unknown parameter ${JSON.stringify(name)}; remove it, or set an option instead. Allowed parameters: ${allowed}`;
}
