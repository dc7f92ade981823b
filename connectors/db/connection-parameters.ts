import { sslModes } from '#sdk';
import { isPort } from './connection-url.ts';
import {
  type DbTlsOptions,
  type DriverName,
  type SettingValue,
  type TargetSession,
  targetSessions,
} from './options.ts';
import { allowedInsteadOf } from './session-settings.ts';

/** What the parameters of a URL or the entries of a connection service set. */
export interface ParameterValues {
  /** An empty host is the default one. */
  readonly hosts?: readonly string[];
  /** One port for all hosts, or one for each. An undefined port is the default one. */
  readonly ports?: readonly (number | undefined)[];
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
  /** Settings of the session. */
  readonly session?: Readonly<Record<string, SettingValue>>;
}

/** A parameter that can't be used. */
export interface ParameterFault {
  /** The parameter's name and value, which may contain a secret. */
  readonly parameter: string;
  /** Phrased so that it can follow the name of the option that contains the parameter. */
  readonly message: string;
  /** Whether the parameter sets the TLS mode, which the tls option can replace. */
  readonly isTlsMode: boolean;
}

/** Returns the values that a parameter sets; otherwise, the allowed values. */
type ReadParameter = (value: string) => ParameterValues | Refused;

interface Refused {
  readonly allowed: string;
}

/** One of these words. Their values are what they set. */
function oneOf(words: Readonly<Record<string, ParameterValues>>): ReadParameter {
  const values = new Map(Object.entries(words));
  return (value) => values.get(value.toLowerCase().replaceAll('_', '-')) ?? { allowed: [...values.keys()].join(', ') };
}

const file = (option: 'ca_file' | 'cert_file' | 'key_file'): ReadParameter => {
  return (path) => (path === '' ? { allowed: 'the path of a file' } : { tls: { [option]: path } });
};
const tlsMode = (mode: DbTlsOptions['mode']): ParameterValues => ({ tls: { mode } });
const nothing: ParameterValues = {};

/** `sslrootcert=system` means the authorities that the system trusts, which are Node's here. */
const rootCertificate: ReadParameter = (path) => (path === 'system' ? tlsMode('verify') : file('ca_file')(path));

/** As libpq does: zero and negative numbers mean no timeout, which isn't supported. */
const connectTimeout: ReadParameter = (value) =>
  /^\d+$/.test(value) && Number(value) > 0 ? { connectSeconds: Number(value) } : { allowed: 'numbers greater than 0' };

/** The path of a socket may contain colons, as Google Cloud SQL's do. */
const hosts: ReadParameter = (text) => ({ hosts: text.split(',') });

/** A parameter that sets nothing if it's empty, so that no driver replaces it with an environment variable. */
function ifAny(read: ReadParameter): ReadParameter {
  return (value) => (value === '' ? nothing : read(value));
}

const common: Readonly<Record<string, ReadParameter>> = {
  host: ifAny(hosts),
  port: ifAny((text) => {
    const ports = text.split(',');
    if (!ports.every((port) => port === '' || isPort(port))) return { allowed: 'numbers from 1 to 65535' };
    return { ports: ports.map((port) => (port === '' ? undefined : Number(port))) };
  }),
  user: ifAny((user) => ({ user })),
  password: ifAny((password) => ({ password })),
  // Parameters of other programs' connection pools.
  pgbouncer: () => nothing,
  connection_limit: () => nothing,
  pool_timeout: () => nothing,
};

/** https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS */
const postgres: Readonly<Record<string, ReadParameter>> = {
  ...common,
  dbname: ifAny((database) => ({ database })),
  sslmode: oneOf(Object.fromEntries(Object.entries(sslModes).map(([name, mode]) => [name, tlsMode(mode)]))),
  ssl: oneOf({ true: tlsMode('require'), false: tlsMode('off') }),
  sslrootcert: rootCertificate,
  sslcert: file('cert_file'),
  sslkey: file('key_file'),
  // Prisma's parameter, which it adds to the URLs that it writes.
  schema: ifAny((schema) => ({ session: { search_path: `"${schema.replaceAll('"', '""')}"` } })),
  gssencmode: oneOf({ disable: nothing, prefer: nothing }),
  channel_binding: oneOf({ disable: nothing, prefer: nothing, require: { hasChannelBinding: true } }),
  options: ifAny((startupOptions) => {
    const allowed = allowedInsteadOf(startupOptions);
    return allowed === undefined ? { startupOptions } : { allowed };
  }),
  application_name: ifAny((applicationName) => ({ applicationName })),
  fallback_application_name: () => nothing,
  connect_timeout: connectTimeout,
  client_encoding: oneOf({ utf8: nothing, 'utf-8': nothing, auto: nothing }),
  target_session_attrs: oneOf(Object.fromEntries(targetSessions.map((target) => [target, { target }]))),
};

/** https://dev.mysql.com/doc/refman/8.4/en/connecting-using-uri-or-key-value-pairs.html, and what hosters write. */
const mysql: Readonly<Record<string, ReadParameter>> = {
  ...common,
  socket: ifAny(hosts),
  unix_socket: ifAny(hosts),
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

/** As in ClickHouse's own drivers. https://clickhouse.com/docs/integrations/connection-strings */
const clickhouse: Readonly<Record<string, ReadParameter>> = {
  ...common,
  database: ifAny((database) => ({ database })),
  secure: oneOf({ true: tlsMode('verify'), false: tlsMode('off') }),
};

const known: Readonly<Record<DriverName, Readonly<Record<string, ReadParameter>>>> = {
  postgres,
  mysql,
  mariadb: mysql,
  sqlite: {},
  sqlserver: {},
  clickhouse,
};

/** Clients spell a parameter differently: `ssl-mode`, `ssl_mode`, `sslMode`. */
const normalized = (name: string) => name.toLowerCase().replaceAll(/[-_]/g, '');

/** Modes with which a connection may be unencrypted although it could be encrypted. */
const opportunistic = /^(allow|prefer(red)?)$/i;

/** Modes in which other clients accept any certificate. */
const unverified = /^(no-verify|accept_invalid_certs|\{"rejectUnauthorized":\s*false\})$/i;

/** The TLS modes; each is stricter than those before it. */
const strictness: readonly DbTlsOptions['mode'][] = ['off', 'require', 'verify-ca', 'verify'];

/**
 * Reads parameters by the names that the servers' own clients use. Unknown parameters are faults, because they may
 * change what is read. Of several TLS modes, the strictest counts; `off` contradicts all others.
 */
export function readParameters(
  driver: DriverName,
  parameters: Iterable<readonly [name: string, value: string]>,
): { readonly values: ParameterValues; readonly faults: readonly ParameterFault[] } {
  let values: ParameterValues = {};
  const faults: ParameterFault[] = [];
  for (const [name, value] of parameters) {
    const result = readParameter(driver, name, value);
    if ('message' in result) {
      faults.push(result);
      continue;
    }
    const modes = [values.tls?.mode, result.tls?.mode].filter((mode) => mode !== undefined);
    if (new Set(modes.map((mode) => mode === 'off')).size > 1) {
      const message = `has ${name}, which contradicts another parameter for TLS; remove one of the two`;
      faults.push({ parameter: name, message, isTlsMode: true });
    }
    const [mode] = modes.toSorted((a, b) => strictness.indexOf(b) - strictness.indexOf(a));
    values = { ...values, ...result, tls: { ...values.tls, ...result.tls, ...(mode === undefined ? {} : { mode }) } };
  }
  return { values, faults };
}

function readParameter(driver: DriverName, name: string, value: string): ParameterValues | ParameterFault {
  const parameter = `${name}=${value}`;
  const key = normalized(name);
  const [, read] = Object.entries(known[driver]).find(([one]) => normalized(one) === key) ?? [];
  if (read === undefined) return { parameter, message: unknownMessage(driver, name), isTlsMode: false };
  const isTlsMode = tlsModes.includes(key);
  if (isTlsMode && opportunistic.test(value)) return { parameter, message: opportunisticMessage(parameter), isTlsMode };
  if (isTlsMode && unverified.test(value)) return { parameter, message: unverifiedMessage(parameter), isTlsMode };
  const result = read(value);
  if (!('allowed' in result)) return result;
  return { parameter, message: `has ${parameter}, which is not valid; allowed: ${result.allowed}`, isTlsMode };
}

const tlsModes = ['ssl', 'sslmode', 'sslaccept'];

function unverifiedMessage(seen: string): string {
  return `has ${seen}, with which any certificate is accepted; use require or verify-full with the provider's certificate instead, or set tls: { mode: require, verify: false }, which takes precedence`;
}

function opportunisticMessage(seen: string): string {
  return `has ${seen}, with which the connection is unencrypted if the server does not offer TLS; use require instead, or set tls.mode, which takes precedence`;
}

function unknownMessage(driver: DriverName, name: string): string {
  const names = Object.keys(known[driver]);
  const allowed = names.length === 0 ? 'none' : names.join(', ');
  return `has the unknown parameter ${JSON.stringify(name)}; remove it, or set an option instead. Allowed parameters: ${allowed}`;
}
