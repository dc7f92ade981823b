import { join } from 'node:path';
import { startDatabase } from './database.ts';
import { connectPostgresAs } from './postgres.ts';
import { venvOf } from './python-venv.ts';
import { ServerFolder, type TestServer } from './server.ts';

/** Starts DuckDB behind Buena Vista, which speaks PostgreSQL's protocol and accepts any user. */
export async function startBuenavista(): Promise<TestServer> {
  const program = join(await venvOf('buenavista'), 'bin/python3');
  const script = new URL('python/buenavista_server.py', import.meta.url).pathname;
  const account = { user: 'sluice', password: 'any', database: 'memory' };
  const folder = await ServerFolder.make('buenavista');
  return startDatabase({
    folder,
    scheme: 'postgres',
    account,
    start: (port) => folder.start(program, ['-W', 'ignore', script, String(port)], { as: 'us' }),
    answers: (port) => connectPostgresAs(account, port),
    killSignal: 'SIGKILL',
  });
}
