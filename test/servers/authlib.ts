import { join } from 'node:path';
import { hasVenv, venvOf } from './python-venv.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const script = new URL('python/authlib_server.py', import.meta.url).pathname;

export const hasAuthlib = hasVenv;

/** An OAuth server made with Authlib, whose clients have the given secret and public key (PEM). */
export async function startAuthlib({ secret, publicKey }: { secret: string; publicKey: string }): Promise<WebServer> {
  const program = join(await venvOf('authlib'), 'bin/python3');
  const args = (port: number) => ['-W', 'ignore', script, String(port), secret, publicKey];
  return startWebServer({ name: 'authlib', program, args });
}
