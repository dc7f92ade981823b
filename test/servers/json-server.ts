import { join } from 'node:path';
import { npmProject } from './npm-project.ts';
import { startWebServer, type WebServer } from './web-server.ts';

/** Starts json-server with these lists, by path. */
export async function startJsonServer(lists: Readonly<Record<string, readonly object[]>>): Promise<WebServer> {
  const program = join(await npmProject('rest'), 'node_modules/.bin/json-server');
  const file = 'data.json';
  return startWebServer({
    name: 'json-server',
    program: process.execPath,
    files: { [file]: JSON.stringify(lists) },
    args: (port, folder) => [program, '--quiet', '--host', '127.0.0.1', '--port', String(port), join(folder, file)],
  });
}
