import { goProgram, hasGo } from './go.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const version = 'v0.203.0';

export const hasStripeMock = hasGo;

/** Stripe's own double, which validates requests and builds responses from Stripe's OpenAPI document. */
export async function startStripeMock(): Promise<WebServer> {
  const program = await goProgram('stripe-mock', 'github.com/stripe/stripe-mock', version);
  // Without its own address, it would serve HTTPS on all interfaces.
  const args = (port: number) => ['-http-addr', `127.0.0.1:${port}`, '-https-addr', '127.0.0.1:'];
  return startWebServer({ name: 'stripe', program, args });
}
