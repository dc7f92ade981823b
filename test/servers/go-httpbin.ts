import { goProgram, hasGo } from './go.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const version = 'v2.26.0';

export const hasGoHttpbin = hasGo;

/** A server that answers as its URLs ask for: with a status, a login, a redirect or the request itself. */
export async function startGoHttpbin(): Promise<WebServer> {
  const program = await goProgram('go-httpbin', 'github.com/mccutchen/go-httpbin/v2/cmd/go-httpbin', version);
  return startWebServer({ name: 'httpbin', program, args: (port) => ['-host', '127.0.0.1', '-port', String(port)] });
}
