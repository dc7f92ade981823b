import { join } from 'node:path';
import { venvOf } from './python-venv.ts';
import { startWebServer, type WebServer } from './web-server.ts';

/**
 * Starts moto, which imitates AWS. Until a number is sent to `/moto-api/reset-auth`, it accepts any request. After as
 * many requests as that number, it verifies signatures, session tokens and policies.
 */
export async function startMoto(): Promise<WebServer> {
  const program = join(await venvOf('moto'), 'bin/python3');
  const args = (port: number) => ['-W', 'ignore', '-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)];
  return startWebServer({ name: 'moto', program, args });
}
