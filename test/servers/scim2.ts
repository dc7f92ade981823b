import { join } from 'node:path';
import { venvOf } from './python-venv.ts';
import { startWebServer, type WebServer } from './web-server.ts';

/** scim2-server without users. It keeps them in memory. */
export async function startScim2(): Promise<WebServer> {
  const program = join(await venvOf('scim2'), 'bin/python3');
  const args = (port: number) => ['-m', 'scim2_server.testserver.cli', '--port', String(port)];
  return startWebServer({ name: 'scim2', program, args });
}
