import type { IncomingMessage } from 'node:http';

/**
 * Returns what HTTP/1.1 forbids about a request that Node passes on; undefined for a valid request. Such a request is
 * answered with status 400. Source: RFC 9112, sections 2.3 and 3.2.
 */
export function requestFault({
  httpVersion,
  rawHeaders,
}: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `HTTP/${httpVersion} is not supported`;
  let hosts = 0;
  // The names alternate with the values.
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.toLowerCase() === 'host') hosts++;
  if (hosts > 1) return 'The request has several Host headers';
  return hosts === 0 && httpVersion === '1.1' ? 'The request has no Host header' : undefined;
}
