import { join } from 'node:path';
import { venvOf } from './python-venv.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const script = new URL('python/spyne_server.py', import.meta.url).pathname;

/** A SOAP service made with Spyne, which gives each record a namespace prefix of its own. */
export async function startSpyne(): Promise<WebServer> {
  const program = join(await venvOf('spyne'), 'bin/python3');
  return startWebServer({ name: 'spyne', program, args: (port) => [script, String(port)] });
}
