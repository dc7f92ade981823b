import { isIP, isIPv6 } from 'node:net';
import { expandHome, registerSecret, type SourceAccount } from '#sdk';
import { type ParameterFault, readParameters } from './connection-parameters.ts';
import {
  type ConnectionUrl,
  driverIn,
  type HostPort,
  hostsIn,
  parseConnectionUrl,
  unescapedPassword,
} from './connection-url.ts';
import { engines, readsFiles } from './engines.ts';
import { type DriverName, defaultConnectSeconds, type SourceValues, type TargetSession } from './options.ts';
import type { ParameterValues } from './parameter-readers.ts';
import type { DbTlsOptions } from './secure-options.ts';
import { serviceFileOf } from './service-file.ts';

/** One server of a source. */
export interface Server {
  /** A name, an address, or the path of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly password: string | undefined;
  /** The server's name in messages. It's different for each server. */
  readonly place: string;
}

/** How to connect to a source: its options, and what its URL or connection service sets. */
export interface ServerAddress {
  readonly driver: DriverName;
  /** The servers in the order in which they are tried; there's at least one. */
  readonly servers: readonly [Server, ...Server[]];
  /** How many ports are set. The servers can share one; otherwise, each server needs its own. */
  readonly portCount: number;
  readonly target: TargetSession;
  readonly database: string | undefined;
  /** The project that an API's queries run in. */
  readonly project: string | undefined;
  readonly user: string | undefined;
  readonly tls: DbTlsOptions;
  /** Whether the login must be bound to the TLS connection. */
  readonly hasChannelBinding: boolean;
  readonly connectSeconds: number;
  readonly applicationName: string;
  /** The PostgreSQL server's command-line options for the session. */
  readonly startupOptions: string | undefined;
  readonly session: SourceValues['session'];
}

/** The driver; undefined if neither the URL nor the options specify it. */
export function driverOf(source: SourceValues): DriverName | undefined {
  if (source.driver !== undefined) return source.driver;
  if (source.url !== undefined) return driverIn(source.url);
  if (source.service !== undefined) return 'postgres';
  if (Object.keys(source.parquet).length > 0) return 'duckdb';
  return source.file === undefined ? undefined : 'sqlite';
}

/** Whether the source reads local files instead of a server. */
export function isFileSource(source: SourceValues): boolean {
  return readsFiles(driverOf(source));
}

/** Whether the source's login is OAuth, instead of a token that is set as the password. */
export function usesOAuth(source: SourceValues): boolean {
  const driver = driverOf(source);
  const isPossible = driver !== undefined && engines[driver].api?.login === 'OAuth or token';
  return isPossible && addressOf(source).servers[0].password === undefined;
}

/** What a source's URL sets, and the parameters in it that can't be used. An invalid URL sets nothing. */
export function valuesOfUrl({ url: text }: Pick<SourceValues, 'url'>): {
  readonly values: ParameterValues;
  readonly faults: readonly ParameterFault[];
} {
  const url = text === undefined ? undefined : parseConnectionUrl(text);
  if (url === undefined || typeof url === 'string') return { values: {}, faults: [] };
  const { values, faults } = readParameters(url.driver, url.parameters);
  const hasPasswordPart = faults.some(({ parameter }) => parameter.includes('@'));
  return {
    values: { ...partsOf(url), ...values },
    faults: hasPasswordPart ? [{ parameter: '', message: unescapedPassword, isTlsMode: false }] : faults,
  };
}

function partsOf({ driver, user, password, database, hosts }: ConnectionUrl): ParameterValues {
  const isProject = engines[driver].api?.urlHost === 'project';
  const place = isProject ? defined({ project: hosts[0]?.host || undefined }) : placesOf(hosts);
  return { ...defined({ user, password, database }), ...place };
}

/** As in libpq, the hosts and the ports of a URL are two lists, and a parameter can replace either. */
function placesOf(hosts: readonly HostPort[], port?: number): ParameterValues {
  const ports = hosts.map((one) => one.port ?? port);
  return {
    ...(hosts.every(({ host }) => host === '') ? {} : { hosts: hosts.map(({ host }) => host) }),
    ...(ports.every((one) => one === undefined) ? {} : { ports }),
  };
}

/**
 * The address from the source's options and URL. The options must have passed `faultsOf`.
 *
 * @param service the values of the source's connection service, which the options and the URL override
 */
export function addressOf(source: SourceValues, service: ParameterValues = {}): ServerAddress {
  const driver = driverOf(source) ?? 'postgres';
  const url = valuesOfUrl(source).values;
  const { target_session_attrs: target, connect_timeout_seconds: connectSeconds } = source;
  const { user, password, database, project } = source;
  const given: ParameterValues = {
    ...service,
    ...url,
    ...placeIn(source),
    ...defined({ user: user || undefined, password, database: database || undefined }),
    ...defined({ project, target, connectSeconds }),
  };
  const usualTls: DbTlsOptions = engines[driver].api === undefined ? {} : { mode: 'verify' };
  const tls: DbTlsOptions = { ...usualTls, ...service.tls, ...url.tls, ...defined(source.tls) };
  // The whole URL is already registered as a secret. The password is registered too, because drivers may print only the
  // password.
  if (given.password !== undefined) registerSecret(given.password);
  return {
    driver,
    servers: serversOf({ ...given, tls }, driver),
    portCount: given.ports?.length ?? 0,
    target: given.target ?? 'any',
    database: given.database,
    project: given.project,
    user: given.user,
    tls,
    hasChannelBinding: given.hasChannelBinding === true,
    connectSeconds: given.connectSeconds ?? defaultConnectSeconds,
    applicationName: given.applicationName ?? 'sluice',
    startupOptions: given.startupOptions,
    session: { ...given.session, ...source.session },
  };
}

function placeIn({ host, port }: SourceValues): ParameterValues {
  const hosts = host?.startsWith('/') ? [{ host }] : hostsIn(host ?? '');
  return hosts?.length ? placesOf(hosts, port) : defined({ ports: port === undefined ? undefined : [port] });
}

function serversOf({ hosts = [], ports = [], password, tls }: ParameterValues, driver: DriverName) {
  const hasTls = (tls?.mode ?? 'off') !== 'off';
  const { port, tlsPort = port, api } = engines[driver];
  const usual = hasTls ? tlsPort : port;
  const [first = '', ...others] = hosts;
  const server = (name: string, i: number): Server => {
    const host = name === '' ? (api?.host ?? 'localhost') : withDomain(name, api?.domain);
    const port = (ports.length === 1 ? ports[0] : ports[i]) ?? usual;
    return { host, port, password, place: placeOf({ host, port, driver }) };
  };
  return [server(first, 0), ...others.map((one, i) => server(one, i + 1))] as const;
}

/** `myorg-shop` is `myorg-shop.snowflakecomputing.com`. */
function withDomain(host: string, domain: string | undefined): string {
  const isWhole = domain === undefined || host.includes(`.${domain.split('.')[0]}.`) || isIP(host) !== 0;
  return isWhole ? host : `${host}.${domain}`;
}

/** Without the entries that are undefined, so that the others override what was set before. */
function defined<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}

/** A source's login; undefined for a file, which doesn't need a login. */
export function accountOf(source: SourceValues): SourceAccount | undefined {
  if (isFileSource(source) || usesOAuth(source)) return undefined;
  const { driver, servers, user, project, tls } = addressOf(source);
  const { ssh, service, passfile, passphrase, private_key_file: key } = source;
  const through = ssh === undefined ? '' : ` through ${ssh.user}@${ssh.host}`;
  const place = service === undefined ? servers.map((one) => one.place).join(',') : `service ${service}`;
  return {
    place: `${place}${through}`,
    user: user ?? project,
    secret: { driver, password: servers[0].password, tls, ssh, service, passphrase },
    files: [
      ...[tls.ca_file, tls.cert_file, tls.key_file, ssh?.private_key_file],
      ...[passfile && expandHome(passfile), key && expandHome(key), serviceFileOf(source)],
    ],
  };
}

/** PostgreSQL's sockets are in a folder and named after their ports; MySQL's socket is the host itself. */
function placeOf({ host, port, driver }: { host: string; port: number; driver: DriverName }): string {
  if (host.startsWith('/')) return driver === 'postgres' ? `${host}/.s.PGSQL.${port}` : host;
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
