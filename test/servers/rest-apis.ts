import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endServer } from './file-server.ts';
import { venvOf } from './python-venv.ts';
import { launch, ServerFolder } from './server.ts';

/** A real HTTP API. */
export interface RestApi {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts Django REST framework at `/drf`, flask-smorest at `/smorest` and graphql-core at `/graphql`. */
export async function startFrameworks(): Promise<RestApi> {
  const folder = await ServerFolder.make('rest');
  const script = await folder.write(
    'server.py',
    await readFile(new URL('python/rest_apis.py', import.meta.url), 'utf8'),
  );
  const python = join(await venvOf('rest-apis'), 'bin/python3');
  return startApi(folder, '/drf/items/', (port) =>
    folder.start(python, ['-W', 'ignore', script, String(port)], { as: 'us' }),
  );
}

/** Starts datasette with a table `items` that this statement creates. */
export async function startDatasette(sql: string): Promise<RestApi> {
  const folder = await ServerFolder.make('datasette');
  const bin = join(await venvOf('rest-apis'), 'bin');
  const make = 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])';
  const database = join(folder.path, 'shop.db');
  await folder.run(join(bin, 'python3'), ['-c', make, database, sql], { as: 'us' });
  return startApi(folder, '/-/versions.json', (port) =>
    folder.start(join(bin, 'python3'), ['-m', 'datasette', 'serve', database, '--port', String(port)], { as: 'us' }),
  );
}

async function startApi(
  folder: ServerFolder,
  path: string,
  start: (port: number) => ReturnType<ServerFolder['start']>,
): Promise<RestApi> {
  const { port, server } = await launch({
    start,
    answers: async (at) => {
      const response = await fetch(`http://127.0.0.1:${at}${path}`);
      if (!response.ok) throw new Error(`status ${response.status}`);
      await response.arrayBuffer();
    },
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => endServer(server, folder) };
}
