import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import type pg from 'pg';
import type { ServerAddress, Tls } from './address.ts';
import { ReadingSocket } from './reading-socket.ts';

interface ConfigParts {
  readonly address: ServerAddress;
  readonly tls: Tls | undefined;
  readonly timeoutMs: number;
  /** Where the socket of a tunnel stands, which leads to the server. */
  readonly socketFolder: string | undefined;
}

/** What pg is to connect with. */
export function postgresConfig({ address, tls, timeoutMs, socketFolder }: ConfigParts) {
  // Through a socket, pg knows no host that a certificate could be checked against.
  const named = tls?.servername ?? (socketFolder === undefined ? undefined : address.host);
  return {
    host: socketFolder ?? address.host,
    port: address.port,
    user: address.user,
    database: address.database ?? address.user,
    // A function, so that neither PGPASSWORD nor ~/.pgpass slips in when no password is given.
    password: () => address.password ?? '',
    ssl: tls === undefined ? false : secure(tls, named),
    // TLS reads by itself, below the socket that pg sees.
    ...(tls === undefined ? { stream: () => new ReadingSocket() } : {}),
    connectionTimeoutMillis: timeoutMs,
    application_name: 'sluice',
    keepAlive: true,
  } satisfies pg.ClientConfig;
}

/** pg always asks for the host's certificate; another name, where one is given, has to be checked by hand. */
function secure(tls: Tls, named: string | undefined): ConnectionOptions {
  if (named === undefined) return { ...tls };
  return { ...tls, checkServerIdentity: (_host, certificate) => checkServerIdentity(named, certificate) };
}
