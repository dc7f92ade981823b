import type { SettingValue, TargetSession } from './options.ts';
import type { DbTlsOptions } from './secure-options.ts';

/** What the parameters of a URL or the entries of a connection service set. */
export interface ParameterValues {
  /** An empty host is the default one. */
  readonly hosts?: readonly string[];
  /** One port for all hosts, or one for each. An undefined port is the default one. */
  readonly ports?: readonly (number | undefined)[];
  readonly project?: string;
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

/** Returns the values that a parameter sets; otherwise, the allowed values. */
export type ReadParameter = (value: string) => ParameterValues | Refused;

interface Refused {
  readonly allowed: string;
}

/** One of these words. Their values are what they set. */
export function oneOf(words: Readonly<Record<string, ParameterValues>>): ReadParameter {
  const values = new Map(Object.entries(words));
  return (value) => values.get(value.toLowerCase().replaceAll('_', '-')) ?? { allowed: [...values.keys()].join(', ') };
}

export const file = (option: 'ca_file' | 'cert_file' | 'key_file'): ReadParameter => {
  return (path) => (path === '' ? { allowed: 'the path of a file' } : { tls: { [option]: path } });
};
export const tlsMode = (mode: DbTlsOptions['mode']): ParameterValues => ({ tls: { mode } });
export const nothing: ParameterValues = {};

/** `sslrootcert=system` means the authorities that the system trusts, which are Node's here. */
export const rootCertificate: ReadParameter = (path) => (path === 'system' ? tlsMode('verify') : file('ca_file')(path));

/** As libpq does: zero and negative numbers mean no timeout, which isn't supported. */
export const connectTimeout: ReadParameter = (value) =>
  /^\d+$/.test(value) && Number(value) > 0 ? { connectSeconds: Number(value) } : { allowed: 'numbers greater than 0' };

/** The path of a socket may contain colons, as Google Cloud SQL's do. */
export const hosts: ReadParameter = (text) => ({ hosts: text.split(',') });

/** A parameter that sets nothing if it's empty, so that no driver replaces it with an environment variable. */
export function ifAny(read: ReadParameter): ReadParameter {
  return (value) => (value === '' ? nothing : read(value));
}

export const common: Readonly<Record<string, ReadParameter>> = {
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

/** Whether the text is a port number. */
export function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}
