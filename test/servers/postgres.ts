import pg from 'pg';
import { startDatabase } from './database.ts';
import { addNewData, dataIn } from './new-data.ts';
import { findProgram, ServerFolder, type ServerSettings, type TestServer } from './server.ts';

const folders = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin'];
const user = 'sluice';
const password = 'pg-test-password';
const database = 'postgres';

/** PostgreSQL's server programs, if this machine has them. */
export function postgresPrograms() {
  const [initdb, postgres, basebackup] = ['initdb', 'postgres', 'pg_basebackup'].map((name) =>
    findProgram(name, folders),
  );
  return { initdb, postgres, basebackup };
}

export function hasPostgres(): boolean {
  const { initdb, postgres } = postgresPrograms();
  return initdb !== undefined && postgres !== undefined;
}

/**
 * Starts a private PostgreSQL with SCRAM passwords, UTF-8, superuser `sluice`, no fsync, and all files in its own
 * folder.
 */
export async function startPostgres({ settings = {}, tls }: ServerSettings = {}): Promise<TestServer> {
  const { initdb, postgres } = postgresPrograms();
  if (initdb === undefined || postgres === undefined) throw new Error('PostgreSQL (initdb, postgres) is not installed');
  const folder = await ServerFolder.make('postgres');
  const secret = await folder.write('password', password);
  const flags = ['-D', dataIn(folder), '-U', user, '-A', 'scram-sha-256', '--pwfile', secret, ...initdbFlags];
  await addNewData('postgres', folder, () => folder.run(initdb, flags));
  const secure = tls === undefined ? {} : await tlsSettings(folder, tls);
  return servePostgres({ folder, postgres, settings: { ...secure, ...settings } });
}

/**
 * Starts the server with the data in its folder: a new cluster, or a copy of one that {@link startPostgres} created.
 */
export function servePostgres({
  folder,
  postgres,
  settings,
}: {
  folder: ServerFolder;
  postgres: string;
  settings: NonNullable<ServerSettings['settings']>;
}): Promise<TestServer> {
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: folder.path, fsync: 'off', ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return startDatabase({
    folder,
    scheme: 'postgres',
    account: { user, password, database },
    start: (port) => folder.start(postgres, ['-D', dataIn(folder), '-p', String(port), ...flags]),
    answers: (port) => connectPostgres(port),
    killSignal: 'SIGQUIT',
  });
}

/** Each server gets a copy of the new data, so its write-ahead log is small. */
const initdbFlags = ['-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions', '--wal-segsize=1'];

async function tlsSettings(folder: ServerFolder, { cert, key, ca }: NonNullable<ServerSettings['tls']>) {
  return {
    ssl: 'on',
    ssl_cert_file: await folder.write('server.crt', cert),
    ssl_key_file: await folder.write('server.key', key),
    ...(ca === undefined ? {} : { ssl_ca_file: await folder.write('ca.crt', ca) }),
  };
}

interface Login {
  readonly database?: string;
  readonly ssl?: boolean;
}

/** One login attempt at a server, or at what is in front of it. Rejects if the login is refused. */
export function connectPostgres(port: number, { database: wanted = database, ssl = false }: Login = {}) {
  return connectPostgresAs({ user, password, database: wanted }, port, ssl);
}

/** One login attempt at a server that speaks PostgreSQL's protocol. Rejects if the login is refused. */
export async function connectPostgresAs(
  account: Pick<TestServer, 'user' | 'password' | 'database'>,
  port: number,
  ssl = false,
): Promise<void> {
  const tls = ssl ? { rejectUnauthorized: false } : false;
  const client = new pg.Client({ host: '127.0.0.1', port, ...account, ssl: tls });
  client.on('error', () => {});
  await client.connect();
  await client.end();
}
