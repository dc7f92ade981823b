import { join } from 'node:path';
import { startDatabase } from './database.ts';
import { venvOf } from './python-venv.ts';
import { ServerFolder, type ServerSettings, type TestServer } from './server.ts';

/** A ClickHouse, and a function that runs a statement on it with all rights. */
export interface ClickhouseServer extends TestServer {
  run(sql: string): Promise<void>;
}

/**
 * Starts ClickHouse's engine behind the HTTP interface that a client reads from. Besides the account, there's a user
 * `locked` with the same password, who can't change settings.
 */
export async function startClickhouse({ tls }: ServerSettings = {}): Promise<ClickhouseServer> {
  const program = join(await venvOf('clickhouse'), 'bin/python3');
  const script = new URL('python/clickhouse_server.py', import.meta.url).pathname;
  const account = { user: 'reader', password: 'clickhouse-test-password', database: 'default' };
  const folder = await ServerFolder.make('clickhouse');
  const files =
    tls === undefined ? [] : [await folder.write('server.pem', tls.cert), await folder.write('server.key', tls.key)];
  const data = join(folder.path, 'data');
  const server = await startDatabase({
    folder,
    scheme: 'clickhouse',
    account,
    start: (port) =>
      folder.start(program, ['-W', 'ignore', script, String(port), data, account.user, account.password, ...files], {
        as: 'us',
      }),
    // A TLS server closes a plain connection, and so answers too.
    answers: async (port) => {
      await fetch(`http://127.0.0.1:${port}/ping`).catch((thrown: unknown) => {
        const { cause } = thrown as { cause?: { code?: string } };
        if (tls === undefined || cause?.code === 'ECONNREFUSED') throw thrown;
      });
    },
    killSignal: 'SIGKILL',
  });
  return {
    ...server,
    run: async (sql) => {
      const headers = { 'X-ClickHouse-User': account.user, 'X-ClickHouse-Key': account.password };
      const response = await fetch(`http://127.0.0.1:${server.port}/`, { method: 'POST', headers, body: sql });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
    },
  };
}
