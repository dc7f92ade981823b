import type { IncomingMessage } from 'node:http';

/**
 * Hides a request's content type from Fastify, which would reject an unparsable one, or QUERY without one, before our
 * handlers run.
 */
export function hideContentType({ method, headers }: IncomingMessage): void {
  if (method === 'QUERY') headers['content-type'] = 'application/octet-stream';
  else delete headers['content-type'];
}
