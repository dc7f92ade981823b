import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { newId } from '../../lib/ids.ts';
import { redact } from '../../lib/redact.ts';
import { requestFault } from '../../lib/request-fault.ts';
import { authenticate, type Caller } from '../auth/authenticate.ts';
import { hexHashOf } from '../auth/keys.ts';
import type { ServiceContext } from '../context.ts';
import type { AuthenticatedRequest, Endpoint, EndpointResult } from '../endpoint.ts';
import type { Run } from '../run-endpoint.ts';
import { noteSignIn } from '../store/users.ts';
import { ApiError, badRequest, notFound } from './api-error.ts';
import { IncomingBody } from './body.ts';
import { canonicalId } from './canonical-id.ts';
import { errorBody, successBody } from './envelope.ts';
import { namesEtag } from './etag.ts';
import { publicUrlOf } from './public-url.ts';
import { readRest } from './slow-client.ts';

/** The result of routing a path. */
export type RouteTarget =
  | { readonly kind: 'path'; readonly methods: ReadonlyMap<string, { endpoint: Endpoint; run: Run }> }
  | { readonly kind: 'unknown path' }
  | { readonly kind: 'error'; readonly error: ApiError };

interface Exchange {
  readonly context: ServiceContext;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly target: RouteTarget;
}

/** Handles one request: authenticates and counts it, then runs the endpoint's own steps. */
export async function exchange(given: Exchange): Promise<void> {
  const done = await perform(given);
  const { context, request, reply } = given;
  try {
    await context.limits.persisted();
    if (!request.raw.complete)
      await readRest(request.raw, reply.raw, { idleMs: context.bodyIdleMs, entry: request.entry });
    if ('thrown' in done) refuse(given, done.thrown);
    else send(given, done);
  } catch (thrown) {
    refuse(given, thrown);
  }
}

type Done = { readonly endpoint: Endpoint; readonly outcome: EndpointResult } | { readonly thrown: unknown };

/** Performs the call. Awaits a result only if it's a promise, because each unneeded await adds latency. */
async function perform(given: Exchange): Promise<Done> {
  try {
    refuseInvalid(given.request.raw);
    const known = authenticated(given);
    const caller = known instanceof Promise ? await known : known;
    count(given, caller);
    const { endpoint, run } = chosen(given.target, given.request.method);
    const running = run(received(given, caller));
    return { endpoint, outcome: running instanceof Promise ? await running : running };
  } catch (thrown) {
    return { thrown };
  }
}

/** Node's own check would send a response without our envelope. */
function refuseInvalid(request: IncomingMessage): void {
  const fault = requestFault(request);
  if (fault !== undefined) throw badRequest(fault);
}

function authenticated({ context, request }: Exchange): Caller | Promise<Caller> {
  context.snapshots.rollOver();
  const { headers, socket } = request.raw;
  const keyHash = keyHashOf(request);
  request.entry.credentials = credentialsShown(request, keyHash);
  const address = socket.remoteAddress ?? 'unknown';
  return authenticate(context.db, context.limits, { keyHash, headers, address, now: context.clock.now() });
}

function count({ context, request: { entry } }: Exchange, { user, company }: Caller): void {
  entry.user = user.id;
  entry.company = company.id;
  context.limits.countCall(company, entry.arrived);
  // A request with an API key doesn't count as a sign-in, because API keys are used by programs.
  if (entry.credentials === 'authorization') noteSignIn(context.db, user, context.clock.now());
}

function received({ context, request, reply }: Exchange, caller: Caller): AuthenticatedRequest {
  return {
    context,
    caller,
    params: canonicalIds(request.params as Record<string, string>),
    query: request.query as Record<string, unknown>,
    host: publicUrlOf(request.raw, context.publicUrl).replace(/^https?:\/\//, ''),
    incoming: new IncomingBody(request.raw, reply.raw, { idleMs: context.bodyIdleMs, entry: request.entry }),
  };
}

/** All parameters of paths are IDs. */
function canonicalIds(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, id]) => [name, canonicalId(id)]));
}

function keyHashOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['kf-api-key'];
  return typeof key === 'string' && key !== '' ? hexHashOf(key) : undefined;
}

/** Describes a request's credentials for the request log, without secrets. */
export function credentialsShown(request: FastifyRequest, keyHash = keyHashOf(request)): string | null {
  if (keyHash !== undefined) return `key ${keyHash.slice(0, 8)}`;
  return request.headers.authorization === undefined ? null : 'authorization';
}

function chosen(answer: RouteTarget, method: string): { endpoint: Endpoint; run: Run } {
  if (answer.kind === 'error') throw answer.error;
  if (answer.kind === 'unknown path') throw notFound('Path not found');
  const found = answer.methods.get(method === 'HEAD' ? 'GET' : method);
  if (found !== undefined) return found;
  const allowed = [...answer.methods.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name)).join(', ');
  throw new ApiError('method_not_allowed', `${method} is not supported here; use ${allowed}`, { allow: allowed });
}

function send(
  { request, reply }: Exchange,
  { endpoint: { answer }, outcome }: Extract<Done, { outcome: unknown }>,
): void {
  reply.code(answer.status);
  if ('stream' in outcome) {
    const { stream, headers } = outcome;
    const isKnown = namesEtag(request.raw.headers['if-none-match'], headers.etag);
    if (!isKnown && request.method !== 'HEAD') {
      void reply.headers(headers).send(stream);
      return;
    }
    stream.destroy();
    if (isKnown) void reply.code(304).header('etag', headers.etag).send();
    else void reply.headers(headers).send();
    return;
  }
  void reply.header('content-type', json).send(successBody(answer.status, outcome));
}

const json = 'application/json; charset=utf-8';

function refuse({ context, request, reply }: Exchange, thrown: unknown): void {
  const id = newId();
  // The client closed the connection before it had sent the whole body, so no response can be sent.
  if (request.raw.destroyed && !request.raw.complete) {
    context.log.info('request aborted by the client', { error_id: id, path: request.entry.path });
    reply.hijack();
    return;
  }
  const error = thrown instanceof ApiError ? thrown : new ApiError('internal_error', 'Internal error');
  if (error !== thrown)
    context.log.error('request failed', { error_id: id, path: request.entry.path, error: traced(thrown) });
  else context.log.debug('request rejected', { error_id: id, path: request.entry.path, error_code: error.code });
  const headers = { ...error.headers, 'content-type': json, ...challenge(error) };
  void reply.code(error.status).headers(headers).send(errorBody(error, id));
}

function traced(thrown: unknown): string {
  return redact(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
}

function challenge({ code }: ApiError): Record<string, string> {
  return code === 'auth_not_provided' || code === 'auth_fail' ? { 'www-authenticate': 'Basic realm="sluice"' } : {};
}
