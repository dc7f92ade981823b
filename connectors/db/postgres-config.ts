import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import type pg from 'pg';
import type { ServerAddress, Tls } from './address.ts';
import { ReadingSocket } from './reading-socket.ts';

interface ConfigParts {
  readonly address: ServerAddress;
  readonly tls: Tls | undefined;
  readonly timeoutMs: number;
  /** Folder that contains the socket of an SSH tunnel to the server. */
  readonly socketFolder: string | undefined;
}

/** The connection options for pg. */
export function postgresConfig({ address, tls, timeoutMs, socketFolder }: ConfigParts) {
  // If pg connects to a socket, it doesn't know the host name for which to verify the certificate.
  const named = tls?.servername ?? (socketFolder === undefined ? undefined : address.host);
  return {
    host: socketFolder ?? address.host,
    port: address.port,
    user: address.user,
    database: address.database ?? address.user,
    // The password is a function, because pg replaces a missing password with PGPASSWORD or one from ~/.pgpass.
    password: () => address.password ?? '',
    ssl: tls === undefined ? false : secure(tls, named),
    // With TLS, pg reads from its TLS socket and not from this one.
    ...(tls === undefined ? { stream: () => new ReadingSocket() } : {}),
    connectionTimeoutMillis: timeoutMs,
    application_name: 'sluice',
    keepAlive: true,
  } satisfies pg.ClientConfig;
}

/**
 * pg always verifies that the certificate matches the host. If the certificate must match another name, this function
 * verifies that name.
 */
function secure(tls: Tls, named: string | undefined): ConnectionOptions {
  if (named === undefined) return { ...tls };
  return { ...tls, checkServerIdentity: (_host, certificate) => checkServerIdentity(named, certificate) };
}
