import { join } from 'node:path';
import { venvOf } from './python-venv.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const script = new URL('python/fastapi_server.py', import.meta.url).pathname;

/** Starts FastAPI with fastapi-pagination, with `/pages`, `/offsets`, `/links` and `/lines`. */
export async function startFastApi(): Promise<WebServer> {
  const program = join(await venvOf('fastapi'), 'bin/python3');
  return startWebServer({ name: 'fastapi', program, args: (port) => [script, String(port)] });
}
