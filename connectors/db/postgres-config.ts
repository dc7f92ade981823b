import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import pg from 'pg';
import type { Server, ServerAddress } from './address.ts';
import { ReadingSocket } from './reading-socket.ts';
import type { Tls } from './tls-files.ts';

interface ConfigParts {
  readonly address: ServerAddress;
  readonly server: Server;
  readonly tls: Tls | undefined;
  /** Folder that contains the socket of an SSH tunnel to the server. */
  readonly socketFolder: string | undefined;
}

/** The connection options for pg. */
export function postgresConfig({ address, server, tls, socketFolder }: ConfigParts) {
  // If pg connects to a socket, it doesn't know the host name for which to verify the certificate.
  const named = tls?.servername ?? (socketFolder === undefined ? undefined : server.host);
  return {
    host: socketFolder ?? server.host,
    port: server.port,
    user: address.user,
    database: address.database ?? address.user,
    // The password is a function, because pg replaces a missing password with PGPASSWORD or one from ~/.pgpass.
    password: () => server.password ?? '',
    options: address.startupOptions,
    enableChannelBinding: address.hasChannelBinding,
    // pg would read these from the environment.
    client_encoding: 'UTF8',
    sslnegotiation: 'postgres',
    ssl: tls === undefined ? false : secure(tls, named),
    // With TLS, pg reads from its TLS socket and not from this one.
    ...(tls === undefined ? { stream: () => new ReadingSocket() } : {}),
    connectionTimeoutMillis: address.connectSeconds * 1000,
    application_name: address.applicationName,
    keepAlive: true,
  } satisfies pg.ClientConfig & { readonly sslnegotiation: string };
}

/** A client that takes nothing from the environment. pg replaces options that are missing with PGOPTIONS and the like. */
export function postgresClient(config: pg.ClientConfig): pg.Client {
  const client = new pg.Client(config);
  const { connectionParameters: parameters } = client as unknown as { connectionParameters: Record<string, unknown> };
  const { host, user, database, application_name, options } = config;
  Object.assign(client, { host, user, database });
  Object.assign(parameters, { host, user, database, application_name, options, replication: undefined });
  return client;
}

/**
 * pg always verifies that the certificate matches the host. If the certificate must match another name, this function
 * verifies that name; if it may match any name, nothing.
 */
function secure({ verifyIdentity, ...tls }: Tls, named: string | undefined): ConnectionOptions {
  if (!verifyIdentity) return { ...tls, checkServerIdentity: () => undefined };
  if (named === undefined) return { ...tls };
  return { ...tls, checkServerIdentity: (_host, certificate) => checkServerIdentity(named, certificate) };
}
