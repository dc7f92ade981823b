import { isIPv6 } from 'node:net';
import { engines } from './engines.ts';
import { type DriverName, drivers } from './options.ts';
import { isPort } from './parameter-readers.ts';

/** A connection URL, split into its decoded parts. Parts that the URL lacks are undefined. */
export interface ConnectionUrl {
  readonly driver: DriverName;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Their hosts are empty if only the port is written. */
  readonly hosts: readonly HostPort[];
  readonly database: string | undefined;
  /** The query parameters, in order. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** A host with the port that is written next to it, if any. */
export interface HostPort {
  readonly host: string;
  readonly port?: number;
}

const schemes: ReadonlyMap<string, DriverName> = new Map(
  drivers.flatMap((name) => engines[name].schemes.map((scheme) => [scheme, name] as const)),
);

/** `postgres://, mysql:// or sqlserver://` */
const examples = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  drivers.flatMap((name) => engines[name].schemes.slice(0, 1)).map((scheme) => `${scheme}://`),
);

/**
 * What is wrong with a URL whose password contains a delimiter. The parts of such a URL contain parts of the password,
 * so they must not be quoted.
 */
export const unescapedPassword =
  'has an @ after the host; write ?, / and # in the password as %3F, %2F and %23, and @ in other parts as %40';

/**
 * Splits a URL as libpq does, because `URL` rejects several hosts and a user without a host.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * The driver name that SQLAlchemy adds to the scheme (`postgresql+psycopg2`) is ignored.
 */
const whole = /^([a-z][a-z\d.-]*)(?:\+[\w.-]+)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i;

/** The parts of a valid URL; otherwise what is wrong with it, phrased so that it can follow the option's name. */
export function parseConnectionUrl(text: string): ConnectionUrl | string {
  const match = whole.exec(text.trim());
  if (match === null) return notAUrl(text);
  const [, scheme = '', login, place = '', path = '', search = ''] = match;
  const driver = schemes.get(scheme.toLowerCase());
  if (driver === undefined) return notAUrl(text);
  try {
    const [user, ...password] = (login ?? '').split(':');
    const hosts = hostsIn(place);
    const names = search.split('&').map((pair) => pair.split('=')[0]!);
    if ([path, ...names].some((one) => one.includes('@'))) return unescapedPassword;
    if (hosts === undefined && search.includes('@')) return unescapedPassword;
    if (hosts === undefined) return 'has an invalid port; a port is a number from 1 to 65535';
    return {
      driver,
      user: part(user),
      password: part(password.join(':')),
      hosts: hosts.map((one) => ({ ...one, host: decodeURIComponent(one.host) })),
      database: part(path),
      parameters: parametersIn(search),
    };
  } catch {
    return 'has a % that does not start an escape sequence; write % as %25';
  }
}

/** The kind of database that a URL's scheme names. */
export function driverIn(url: string): DriverName | undefined {
  const parsed = parseConnectionUrl(url);
  return typeof parsed === 'string' ? undefined : parsed.driver;
}

/** `a:1,b` as hosts with ports; undefined if a port is invalid. An IPv6 address with a port is in brackets. */
export function hostsIn(text: string): readonly HostPort[] | undefined {
  const hosts = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map(hostIn);
  return hosts.includes(undefined) ? undefined : (hosts as HostPort[]);
}

function hostIn(text: string): HostPort | undefined {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  // An IPv6 address without brackets has several colons, and no port.
  if (host === undefined) return isIPv6(text) ? { host: text } : undefined;
  if (port === undefined || port === '') return { host };
  return isPort(port) ? { host, port: Number(port) } : undefined;
}

function part(text = ''): string | undefined {
  return text === '' ? undefined : decodeURIComponent(text);
}

/** Unlike in HTML forms, a plus sign isn't a space. */
function parametersIn(search: string): ConnectionUrl['parameters'] {
  return search
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [decodeURIComponent(name), decodeURIComponent(value.join('='))];
    });
}

function notAUrl(text: string): string {
  if (/^(sqlite|duckdb|file):/i.test(text)) return 'is for a local file; set the file option to its path instead';
  if (/^jdbc:/i.test(text))
    return 'is for JDBC; remove jdbc: and write the login before the host: postgres://user:password@host/database';
  if (text.includes('#')) return 'contains a #; write # as %23';
  return `must be a full URL that starts with ${examples}`;
}
