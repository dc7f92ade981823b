import { join } from 'node:path';
import pg from 'pg';
import { startDatabase } from './database.ts';
import { connectPostgres } from './postgres.ts';
import { findProgram, ServerFolder, type ServerSettings, type TestServer } from './server.ts';

const folders = ['/usr/sbin'];

export type PoolMode = 'session' | 'transaction' | 'statement';

export function hasPgbouncer(): boolean {
  return findProgram('pgbouncer', folders) !== undefined;
}

export interface Pgbouncer extends TestServer {
  /** Runs a command on the admin console: `pause`, `resume`, `kill postgres`. */
  admin(command: string): Promise<void>;
}

/**
 * Starts a PgBouncer in front of a private PostgreSQL, with the same users and passwords. Settings are in PgBouncer's
 * syntax.
 */
export async function startPgbouncer(
  { port: behind, user, password, database }: TestServer,
  mode: PoolMode,
  { settings = {}, tls }: ServerSettings = {},
): Promise<Pgbouncer> {
  const program = findProgram('pgbouncer', folders);
  if (program === undefined) throw new Error('PgBouncer is not installed');
  const folder = await ServerFolder.make('pgbouncer');
  const all = {
    listen_addr: '127.0.0.1',
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: await folder.write('users', `"${user}" "${password}"\n`),
    admin_users: user,
    pool_mode: mode,
    server_login_retry: 0.1,
    ...(tls === undefined ? {} : await tlsSettings(folder, tls)),
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const databases = `[databases]\n${database} = host=127.0.0.1 port=${behind} dbname=${database}\n`;
  const server = await startDatabase({
    folder,
    scheme: 'postgres',
    account: { user, password, database },
    start: async (port) => {
      await folder.write('ini', `${databases}[pgbouncer]\n${[...lines, `listen_port = ${port}`].join('\n')}\n`);
      return await folder.start(program, [join(folder.path, 'ini')]);
    },
    answers: (port) => connectPostgres(port, { database: 'pgbouncer', ssl: tls !== undefined }),
    killSignal: 'SIGKILL',
  });
  const console = server.url.replace(/\w+$/, 'pgbouncer');
  return { ...server, admin: (command) => tellConsole(console, command) };
}

async function tlsSettings(folder: ServerFolder, { cert, key }: NonNullable<ServerSettings['tls']>) {
  return {
    client_tls_sslmode: 'require',
    client_tls_cert_file: await folder.write('server.crt', cert),
    client_tls_key_file: await folder.write('server.key', key),
  };
}

async function tellConsole(url: string, command: string): Promise<void> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(command);
  } finally {
    await client.end();
  }
}
