import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Problem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import { IncomingBody } from '../http/body.ts';
import { hideContentType } from '../http/content-type.ts';
import type { ControlContext } from './context.ts';
import type { ControlEndpoint } from './endpoint.ts';
import { controlRunnerOf } from './run-endpoint.ts';
import { bearsToken } from './token.ts';

const bodyIdleMs = 60_000;

interface Guarded {
  readonly context: ControlContext;
  readonly token: string;
  /** Aborted when the service ends. */
  readonly end: AbortSignal;
  /** Calls that must finish before the server shuts down. */
  readonly running: Set<Promise<unknown>>;
}

/** The control interface's HTTP server. It accepts one token, and uses JSON for requests and responses. */
export function buildControlApp(given: Guarded, endpoints: readonly ControlEndpoint[]): FastifyInstance {
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', async (request) => {
    hideContentType(request.raw);
    if (!bearsToken(request.headers.authorization, given.token)) throw wrongToken();
  });
  app.setErrorHandler((thrown, _request, reply) => fail(reply, thrown, given.context));
  app.setNotFoundHandler(() => {
    throw notFound('Path not found; GET / lists all paths');
  });
  app.get('/', () => ({ endpoints: endpoints.map(({ method, path, summary }) => ({ method, path, summary })) }));
  for (const endpoint of endpoints) route(app, given, endpoint);
  return app;
}

function wrongToken(): ApiError {
  const text = 'Control token required: Authorization: Bearer <token>';
  return new ApiError('auth_fail', text, { 'www-authenticate': 'Bearer realm="sluice control"' });
}

function route(app: FastifyInstance, { context, end, running }: Guarded, endpoint: ControlEndpoint): void {
  const run = controlRunnerOf(endpoint);
  app.route({
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    handler: async (request, reply) => {
      const signal = AbortSignal.any([end, goneSignal(reply)]);
      const incoming = new IncomingBody(request.raw, reply.raw, { idleMs: bodyIdleMs });
      const { params, query } = request as FastifyRequest<{
        Params: Record<string, string>;
        Querystring: Record<string, unknown>;
      }>;
      const one = run({ context, params, query, incoming, signal });
      running.add(one);
      const { data, status = endpoint.status } = await one.finally(() => running.delete(one));
      return reply.code(status).send(data);
    },
  });
}

function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  return gone.signal;
}

function fail(reply: FastifyReply, thrown: unknown, { service }: ControlContext): void {
  const { status, headers, body } = errorResponse(thrown);
  if (status === 500) service.log.error('the control interface failed', body.error);
  void reply.code(status).headers(headers).send(body);
}

interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: object };
}

/**
 * The response for a thrown error: `{"error": {code, message, …}}`. For a fixtures file, it lists all errors in the
 * file.
 */
function errorResponse(thrown: unknown): ErrorResponse {
  if (thrown instanceof ApiError) {
    const { status, headers, code, message } = thrown;
    return { status, headers, body: { error: { code, message } } };
  }
  if (thrown instanceof Problem && thrown.family === 'config') {
    return {
      status: 400,
      headers: {},
      body: { error: { ...summaryOf(thrown), problems: problemsIn(thrown).map(summaryOf) } },
    };
  }
  const message = redact(thrown instanceof Error ? thrown.message : String(thrown));
  return { status: 500, headers: {}, body: { error: { code: 'internal_error', message } } };
}

function problemsIn(problem: Problem): readonly Problem[] {
  return problem.cause instanceof AggregateError ? (problem.cause.errors as Problem[]) : [problem];
}

function summaryOf({ code, message, where, seen, allowed, next }: Problem): object {
  return {
    code,
    message: redact(message),
    ...where,
    ...(seen && { seen: redact(seen) }),
    ...(allowed && { allowed }),
    ...(next && { next }),
  };
}
