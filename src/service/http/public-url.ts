import type { IncomingMessage } from 'node:http';
import { Problem } from '../../lib/problem.ts';

const legalHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The service's URL as its clients know it, without the API's version: the configured URL, or the host that the request
 * names, or the address that the connection uses. HTTP/1.0 clients may omit the host.
 */
export function publicUrlOf(request: IncomingMessage, configured: string | undefined): string {
  return configured ?? `http://${hostOf(request)}`;
}

function hostOf({ headers: { host = '' }, socket }: IncomingMessage): string {
  if (legalHost.test(host) && URL.canParse(`http://${host}`)) return host;
  const { localAddress: address = '127.0.0.1', localPort } = socket;
  return `${address.includes(':') ? `[${address}]` : address}:${localPort}`;
}

/** Parses a configured public URL. Throws a Problem if it isn't an HTTP URL, or has credentials, a query or a hash. */
export function parsePublicUrl(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '';
  if (isPlain && !/[?#]/.test(url.href)) return url.href.replace(/\/+$/, '');
  throw new Problem({
    code: 'SERVICE_ADDRESS',
    family: 'config',
    message: 'the URL that clients use is not valid',
    allowed: 'an http or https URL without credentials, query and fragment, such as https://dashboards.example.com',
    next: 'correct --url',
  });
}
