import { join } from 'node:path';
import pg from 'pg';
import { findProgram, launch, ServerFolder, type ServerSettings, type TestServer } from './server.ts';

const folders = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin'];
const user = 'sluice';
const password = 'pg-test-password';
const database = 'postgres';

function programs(): { initdb: string | undefined; postgres: string | undefined } {
  return { initdb: findProgram('initdb', folders), postgres: findProgram('postgres', folders) };
}

export function hasPostgres(): boolean {
  const { initdb, postgres } = programs();
  return initdb !== undefined && postgres !== undefined;
}

/** Starts a private PostgreSQL: SCRAM passwords, UTF-8, superuser `sluice`, no fsync, everything in a folder of its own. */
export async function startPostgres({ settings = {}, tls }: ServerSettings = {}): Promise<TestServer> {
  const { initdb, postgres } = programs();
  if (initdb === undefined || postgres === undefined) throw new Error('PostgreSQL (initdb, postgres) is not installed');
  const folder = await ServerFolder.make('postgres');
  const data = join(folder.path, 'data');
  const secret = await folder.write('password', password);
  await folder.run(initdb, ['-D', data, '-U', user, '-A', 'scram-sha-256', '--pwfile', secret, ...initdbFlags]);
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder.path,
    fsync: 'off',
    ...(tls === undefined ? {} : await tlsSettings(folder, tls)),
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { port, server } = await launch({
    start: (port) => folder.start(postgres, ['-D', data, '-p', String(port), ...flags]),
    answers: (port) => connectOnce(urlOf(port)),
  });
  return {
    url: urlOf(port),
    host: '127.0.0.1',
    port,
    user,
    password,
    database,
    folder: folder.path,
    stop: () => server.stop(),
    kill: () => server.kill('SIGQUIT'),
  };
}

const initdbFlags = ['-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'];

async function tlsSettings(folder: ServerFolder, { cert, key, ca }: NonNullable<ServerSettings['tls']>) {
  return {
    ssl: 'on',
    ssl_cert_file: await folder.write('server.crt', cert),
    ssl_key_file: await folder.write('server.key', key),
    ...(ca === undefined ? {} : { ssl_ca_file: await folder.write('ca.crt', ca) }),
  };
}

function urlOf(port: number): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
}

async function connectOnce(url: string): Promise<void> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  await client.end();
}
