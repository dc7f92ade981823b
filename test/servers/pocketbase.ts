import { goProgram, hasGo } from './go.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const version = 'v0.29.3';

export const hasPocketBase = hasGo;

/** The administrator, whom the server knows as soon as it runs. */
export const pocketBaseUser = { identity: 'admin@example.com', password: 'pocket-secret-1' };

/** PocketBase with an empty database. */
export async function startPocketBase(): Promise<WebServer> {
  const program = await goProgram('pocketbase', 'github.com/pocketbase/pocketbase/examples/base', version);
  const { identity, password } = pocketBaseUser;
  const start = '"$1" superuser upsert "$2" "$3" --dir data && exec "$1" serve --http "127.0.0.1:$4" --dir data';
  const args = (port: number) => ['-c', start, 'sh', program, identity, password, String(port)];
  return startWebServer({ name: 'pocketbase', program: '/bin/sh', args });
}
