import { join } from 'node:path';
import { npmProject } from './npm-project.ts';
import { startWebServer, type WebServer } from './web-server.ts';

/** pouchdb-server, which speaks CouchDB's protocol, with no databases. It keeps them in memory. */
export async function startPouchDb(): Promise<WebServer> {
  const program = join(await npmProject('rest'), 'node_modules/.bin/pouchdb-server');
  const options = ['--in-memory', '--no-stdout-logs', '--host', '127.0.0.1', '--port'];
  const args = (port: number) => [program, ...options, String(port)];
  return startWebServer({ name: 'pouchdb', program: process.execPath, args });
}
