import { join } from 'node:path';
import { cached, runTool } from './fetch.ts';
import { findGo, hasGo } from './manifest-tools.ts';
import { startWebServer, type WebServer } from './web-server.ts';

/** Go verifies the module and its dependencies with its checksum database. */
const version = 'v2.26.0';

export const hasGoHttpbin = hasGo;

/** A server that answers as its URLs ask for: with a status, a login, a redirect or the request itself. */
export async function startGoHttpbin(): Promise<WebServer> {
  const bin = await cached(`go-httpbin-${version}`, async (folder) => {
    const module = `github.com/mccutchen/go-httpbin/v2/cmd/go-httpbin@${version}`;
    await runTool('env', [`GOBIN=${folder}`, findGo()!, 'install', module]);
  });
  const program = join(bin, 'go-httpbin');
  return startWebServer({ name: 'httpbin', program, args: (port) => ['-host', '127.0.0.1', '-port', String(port)] });
}
