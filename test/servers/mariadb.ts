import { join } from 'node:path';
import mysql, { type ConnectionOptions } from 'mysql2';
import { startDatabase } from './database.ts';
import { addNewData, dataIn } from './new-data.ts';
import { findProgram, ServerFolder, type ServerSettings, type TestServer } from './server.ts';

const folders = ['/usr/sbin', '/usr/libexec'];
const user = 'sluice';
const password = 'maria-test-password';
const database = 'test';

function programs(): { install: string | undefined; mariadbd: string | undefined } {
  return { install: findProgram('mariadb-install-db', folders), mariadbd: findProgram('mariadbd', folders) };
}

export function hasMariadb(): boolean {
  const { install, mariadbd } = programs();
  return install !== undefined && mariadbd !== undefined;
}

/**
 * Starts a private MariaDB with utf8mb4, user `sluice` with all privileges, database `test`, and all files in its own
 * folder.
 */
export async function startMariadb({ settings = {}, tls }: ServerSettings = {}): Promise<TestServer> {
  const { install, mariadbd } = programs();
  if (install === undefined || mariadbd === undefined) {
    throw new Error('MariaDB (mariadb-install-db, mariadbd) is not installed');
  }
  const folder = await createDataFolder(install);
  const data = dataFlag(folder);
  const first = await folder.write('first.sql', firstStatements({ user, password, database }));
  const all = {
    socket: join(folder.path, 'socket'),
    'pid-file': join(folder.path, 'pid'),
    'init-file': first,
    'bind-address': '127.0.0.1',
    'character-set-server': 'utf8mb4',
    ...(tls === undefined ? {} : await tlsSettings(folder, tls)),
    ...settings,
  };
  const flags = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
  const account = { user, password, database };
  return startDatabase({
    folder,
    scheme: 'mysql',
    account,
    start: (port) => folder.start(mariadbd, ['--no-defaults', data, `--port=${port}`, '--skip-log-bin', ...flags]),
    answers: (port) => connectMysql({ host: '127.0.0.1', port, ...account }),
    killSignal: 'SIGKILL',
  });
}

const dataFlag = (folder: ServerFolder): string => `--datadir=${dataIn(folder)}`;

/** MariaDB 10.11 occasionally crashes while it creates its tables, once in many hundred times. Only that is retried. */
async function createDataFolder(install: string, triesLeft = 3): Promise<ServerFolder> {
  const folder = await ServerFolder.make('mariadb');
  try {
    const flags = ['--no-defaults', dataFlag(folder), ...installFlags];
    await addNewData('mariadb', folder, () => folder.run(install, flags));
    return folder;
  } catch (failure) {
    if (triesLeft === 1 || !String(failure).includes('Segmentation fault')) throw failure;
    return createDataFolder(install, triesLeft - 1);
  }
}

const installFlags = ['--auth-root-authentication-method=normal', '--skip-test-db', '--innodb-log-file-size=8M'];

type Account = Pick<TestServer, 'user' | 'password' | 'database'>;

/** Creates the database and its user; one statement per line, as the server's init-file requires. */
export function firstStatements({ user, password, database }: Account): string {
  return [
    `CREATE DATABASE IF NOT EXISTS ${database} CHARACTER SET utf8mb4;`,
    ...['127.0.0.1', 'localhost'].flatMap((host) => [
      `CREATE USER IF NOT EXISTS '${user}'@'${host}' IDENTIFIED BY '${password}';`,
      `GRANT ALL ON *.* TO '${user}'@'${host}' WITH GRANT OPTION;`,
    ]),
    '',
  ].join('\n');
}

export async function tlsSettings(folder: ServerFolder, { cert, key, ca }: NonNullable<ServerSettings['tls']>) {
  return {
    'ssl-cert': await folder.write('server.crt', cert),
    'ssl-key': await folder.write('server.key', key),
    ...(ca === undefined ? {} : { 'ssl-ca': await folder.write('ca.crt', ca) }),
  };
}

/** One login attempt; rejects if the server refuses it. */
export async function connectMysql(account: ConnectionOptions): Promise<void> {
  const connection = mysql.createConnection(account);
  await new Promise<void>((resolve, reject) => {
    connection.on('error', reject);
    connection.connect((failure) => (failure === null ? resolve() : reject(failure)));
  });
  connection.destroy();
}
