import { join } from 'node:path';
import { startDatabase } from './database.ts';
import { cached, fetchMavenJar } from './fetch.ts';
import { connectPostgresAs } from './postgres.ts';
import { findProgram, ServerFolder, type TestServer } from './server.ts';

const artifact = {
  group: 'com.h2database',
  artifact: 'h2',
  version: '2.5.252',
  sha256: '90b11dc413da82070ef15fc943282c1408e6ffd34fa68998335fea8603b5ff20',
};

/** True if H2 can be downloaded, or has been. */
export function hasH2(): boolean {
  return findProgram('mvn') !== undefined && findProgram('java') !== undefined;
}

/** Starts an H2 that speaks PostgreSQL's protocol. The first login makes an administrator. */
export async function startH2(): Promise<TestServer> {
  const home = await cached(`h2-${artifact.version}`, async (to) => void (await fetchMavenJar(artifact, to)));
  const jar = join(home, `${artifact.artifact}-${artifact.version}.jar`);
  const folder = await ServerFolder.make('h2');
  const account = { user: 'sa', password: 'h2-test-password', database: 'test' };
  const data = join(folder.path, 'data');
  const flags = ['-Xmx128m', '-cp', jar, 'org.h2.tools.Server', '-pg', '-ifNotExists', '-baseDir', data];
  return startDatabase({
    folder,
    scheme: 'postgres',
    account,
    start: (port) => folder.start(findProgram('java')!, [...flags, '-pgPort', String(port)], { as: 'us' }),
    answers: (port) => connectPostgresAs(account, port),
    killSignal: 'SIGKILL',
  });
}
