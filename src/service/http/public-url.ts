import type { IncomingMessage } from 'node:http';

const legalHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The service's URL as its clients know it, without the API's version: the configured URL, or the host that the request
 * names, or the address that the connection uses. HTTP/1.0 clients may omit the host.
 */
export function publicUrlOf(request: IncomingMessage, configured: string | undefined): string {
  return configured ?? `http://${hostOf(request)}`;
}

function hostOf({ headers: { host = '' }, socket }: IncomingMessage): string {
  if (legalHost.test(host)) return host;
  const { localAddress: address = '127.0.0.1', localPort } = socket;
  return `${address.includes(':') ? `[${address}]` : address}:${localPort}`;
}
