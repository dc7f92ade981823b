import { METHODS, maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { newId } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';
import type { Endpoint, Resource } from '../endpoint.ts';
import { applyFault } from '../faults/apply-fault.ts';
import { corruptResponse } from '../faults/corrupt-response.ts';
import type { FaultRule } from '../faults/fault-rule.ts';
import type { PauseGate } from '../pause-gate.ts';
import { servePublished } from '../published/serve.ts';
import { runnerOf } from '../run-endpoint.ts';
import { badRequest } from './api-error.ts';
import { hideContentType } from './content-type.ts';
import { allowOrigin } from './cors.ts';
import { errorBody } from './envelope.ts';
import { exchange, type RouteTarget } from './exchange.ts';
import { servePages } from './pages.ts';
import { prefixes } from './prefixes.ts';
import type { LoggedRequest, RequestLog } from './request-log.ts';
import { RunningRequests } from './running-requests.ts';
import { dropUnread } from './slow-client.ts';

declare module 'fastify' {
  interface FastifyRequest {
    entry: LoggedRequest;
    /** A fault rule that still has to be applied to the response. */
    fault: FaultRule | null;
  }
}

interface Logging {
  readonly context: ServiceContext;
  readonly requestLog: RequestLog;
}

export interface App {
  readonly server: FastifyInstance;
  /** Waits until no requests are in progress. */
  settled(): Promise<void>;
  /** Closes the connections of all requests in progress. */
  cutOff(): void;
}

/**
 * Creates the HTTP server. Each path handles every method itself, so that a 405 response can list the allowed methods.
 */
export function buildApp(context: ServiceContext, resources: readonly Resource[], requestLog: RequestLog): App {
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    // By default, Node rejects a request without a Host header itself, with a response that isn't in our envelope.
    http: {
      requireHostHeader: false,
      headersTimeout: context.bodyIdleMs,
      connectionsCheckingInterval: Math.min(context.bodyIdleMs, 10_000),
    },
    // Some clients percent-encode characters in the path that don't need it.
    rewriteUrl: ({ url = '/' }) => url.replace('/%40/', '/@/'),
    forceCloseConnections: 'idle',
    connectionTimeout: context.bodyIdleMs * 2,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 65_536 },
    frameworkErrors: (_error, request, reply) => {
      void refuseAtOnce(request, reply, { context, requestLog });
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket),
  });
  const unknown = METHODS.filter((method) => method !== 'CONNECT' && !app.supportedMethods.includes(method));
  for (const method of unknown) app.addHttpMethod(method, { hasBody: true });
  readBodiesOurselves(app);
  handleSilentClients(app);
  installRequestLog(app, context, requestLog);
  if (context.corsOrigin !== undefined) allowOrigin(app, context.corsOrigin);
  const running = new RunningRequests();
  servePages(app, { resources, publicUrl: context.publicUrl });
  servePublished(app, { context, running });
  installFaultHooks(app, context);
  routeAll(app, { context, running }, resources);
  return {
    server: app,
    settled: () => running.settled(),
    cutOff: () => running.cutOff(),
  };
}

/**
 * The endpoint steps read the body themselves after authorization, so Fastify must pass on every content type unparsed.
 */
function readBodiesOurselves(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  // Node rejects requests with an unknown `Expect` value before our handlers run. Handle them like any other request
  // instead.
  for (const event of ['checkContinue', 'checkExpectation'] as const) {
    app.server.on(event, (request, response) => app.routing(request, response));
  }
}

function installRequestLog(app: FastifyInstance, context: ServiceContext, requestLog: RequestLog): void {
  app.decorateRequest('entry', null as unknown as LoggedRequest);
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply, { context, requestLog });
    hideContentType(request.raw);
    done();
  });
}

function begin(request: FastifyRequest, { raw }: FastifyReply, { context, requestLog }: Logging): void {
  const { socket } = request;
  const { bytesWritten } = socket;
  const arrived = context.clock.monotonic();
  const began = performance.now();
  const entry = requestLog.begin({
    now: context.clock.now(),
    arrived,
    method: request.method,
    path: shortened(pathOf(request), request.raw.url!),
    from: peerOf(socket),
  });
  request.entry = entry;
  raw.on('close', () => {
    if (raw.writableFinished) entry.status = raw.statusCode;
    entry.bytes_out = socket.bytesWritten - bytesWritten;
    entry.took_ms = Math.round(performance.now() - began);
    requestLog.end(entry);
    dropUnread(request.raw, context.bodyIdleMs * 2);
  });
}

function pathOf({ raw: { url } }: FastifyRequest): string {
  const end = url!.indexOf('?');
  return end < 0 ? url! : url!.slice(0, end);
}

/** Cached per connection, so that up to 100,000 log entries share the string. */
const peers = new WeakMap<Socket, string>();

function peerOf(socket: Socket): string {
  let peer = peers.get(socket);
  if (peer === undefined) {
    peer = `${socket.remoteAddress}:${socket.remotePort}`;
    peers.set(socket, peer);
  }
  return peer;
}

/** Copied, because a substring would keep the whole path in memory as long as its log entry exists. */
function shortened(path: string, { length }: string): string {
  return path.length === length && length <= 500 ? path : Buffer.from(path.slice(0, 500), 'latin1').toString('latin1');
}

interface Routing {
  readonly context: ServiceContext;
  readonly running: RunningRequests;
}

function routeAll(app: FastifyInstance, routing: Routing, resources: readonly Resource[]): void {
  const byPath = Map.groupBy(
    resources.flatMap((resource) => resource.endpoints),
    (endpoint) => endpoint.path,
  );
  const declared = resources.flatMap(({ endpoints }) => endpoints.map(({ method }) => method));
  const methods = [...new Set([...declared, 'HEAD' as const])];
  const targets = new Map([...byPath].map(([path, endpoints]) => [path, targetOf(endpoints)]));
  for (const [path, target] of targets) {
    const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const prefix of prefixes) app.route({ method: methods, url: prefix + url, handler: handler(routing, target) });
  }
  const unknown = handler(routing, { kind: 'unknown path' });
  const otherMethod = [...targets].map(([path, target]) => ({
    pattern: patternOf(path),
    handle: handler(routing, target),
  }));
  const otherHandlerOf = (path: string) => otherMethod.find(({ pattern }) => pattern.test(path))?.handle;
  // Thirty HTTP methods aren't used by any endpoint. Registering them would take most of the startup time.
  app.setNotFoundHandler((request, reply) => {
    const isOther = !(methods as string[]).includes(request.method);
    const handle = isOther ? otherHandlerOf(decodeURI(pathOf(request))) : undefined;
    (handle ?? unknown)(request, reply);
  });
}

/**
 * A pattern that matches the paths that the router matches: with any prefix, with or without a trailing slash, and with
 * escapes decoded.
 */
function patternOf(path: string): RegExp {
  const segments = path.split(/\{\w+\}/).map(RegExp.escape);
  return new RegExp(`^(?:${prefixes.map(RegExp.escape).join('|')})${segments.join('[^/]*')}/?$`);
}

function targetOf(endpoints: readonly Endpoint[]): RouteTarget {
  const methods = new Map(
    endpoints.map((endpoint) => [endpoint.method as string, { endpoint, run: runnerOf(endpoint) }]),
  );
  return { kind: 'path', methods };
}

/**
 * Creates a path's handler. The handler doesn't return a promise, because Fastify would wait for it and send a second
 * response.
 */
function handler({ context, running }: Routing, target: RouteTarget) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const work = (): void => running.add(exchange({ context, request, reply, target }), request.raw.socket);
    const gate = context.testControls?.gate;
    if (gate?.resumed === undefined) work();
    else void whenResumed(gate, work);
  };
}

async function whenResumed(gate: PauseGate, work: () => void): Promise<void> {
  // The gate may have been closed again before this code continues, so check in a loop.
  while (gate.resumed !== undefined) await gate.resumed;
  work();
}

/** Adds fault injection to every route if the control interface is enabled. */
function installFaultHooks(app: FastifyInstance, { testControls, bodyIdleMs }: ServiceContext): void {
  if (testControls === undefined) return;
  app.decorateRequest('fault', null);
  app.addHook('preHandler', async (request, reply) => {
    const fault = testControls.faults.match(request.method, pathOf(request));
    if (fault !== undefined) await applyFault(fault, { request, reply, bodyIdleMs });
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.fault === null) return done(null, payload);
    corruptResponse(request, reply, payload as string).then(
      // After `hijack()`, Fastify sends nothing and leaves the response to our code.
      (isTaken) => (isTaken ? reply.hijack() : done(null, payload)),
      (thrown) => done(thrown as Error),
    );
  });
}

/** Handles a path that the router can't decode. No hook has run for such a request. */
async function refuseAtOnce(request: FastifyRequest, reply: FastifyReply, logging: Logging): Promise<void> {
  begin(request, reply, logging);
  const error = badRequest('The path is not valid');
  await exchange({ context: logging.context, request, reply, target: { kind: 'error', error } });
}

/**
 * Node has two timers for a client that connects but sends nothing: one sends a 408 response, the other closes the
 * connection. On a busy machine, the second may fire first, so it also sends the response. Idle keep-alive connections
 * are closed without a response.
 */
function handleSilentClients(app: FastifyInstance): void {
  app.server.on('timeout', (socket) => {
    if (socket.bytesRead > 0) socket.destroy();
    else {
      answerBrokenRequest(requestTimeout, socket);
      socket.destroySoon();
    }
  });
}

const requestTimeout = Object.assign(new Error('request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

/** Texts for errors of Node's HTTP parser, by code. */
const brokenRequests: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'Request timeout: the request did not arrive in time',
  HPE_HEADER_OVERFLOW: `The URL and the headers are larger than ${maxHeaderSize} bytes`,
};

/** Responds to malformed HTTP, which has neither a route nor a caller. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const text = brokenRequests[error.code ?? ''] ?? 'The request is not valid HTTP';
  const body = errorBody(badRequest(text), newId());
  const head = ['HTTP/1.1 400 Bad Request', 'content-type: application/json; charset=utf-8', 'connection: close'];
  socket.end(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
