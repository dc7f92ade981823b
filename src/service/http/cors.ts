import type { FastifyInstance } from 'fastify';
import { Problem } from '../../lib/problem.ts';

/** Headers that a page may send and read, in addition to those that browsers always allow. */
const allowed = 'authorization, content-type, if-match, if-none-match, kf-api-key';
const exposed = 'allow, etag, retry-after';

const preflight = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
  'access-control-allow-headers': allowed,
  'access-control-max-age': '600',
};

/**
 * Lets web pages of an origin call the service from browsers. Answers their preflight requests, which have no
 * credentials and therefore don't count. Source: https://fetch.spec.whatwg.org/#http-cors-protocol.
 */
export function allowOrigin(app: FastifyInstance, origin: string): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed });
    const isPreflight = request.method === 'OPTIONS' && 'access-control-request-method' in request.headers;
    if (isPreflight) void reply.code(204).headers(preflight).send();
    else done();
  });
}

/** Checks a configured origin. Throws a Problem if it's neither the origin of a URL nor `*`. */
export function parseOrigin(text: string): string {
  if (text === '*' || (/^https?:/.test(text) && URL.parse(text)?.origin === text)) return text;
  throw new Problem({
    code: 'SERVICE_ADDRESS',
    family: 'config',
    message: 'the origin of the web pages is not valid',
    seen: text,
    allowed: '* or a scheme, a host and an optional port, such as https://dashboards.example.com',
    next: 'correct --cors',
  });
}
