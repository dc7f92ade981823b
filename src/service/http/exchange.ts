import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { newId } from '../../lib/ids.ts';
import { redact } from '../../lib/redact.ts';
import { authenticate, type Caller } from '../auth/authenticate.ts';
import { hexHashOf } from '../auth/keys.ts';
import type { Endpoint, Outcome } from '../endpoint.ts';
import type { Parts } from '../context.ts';
import type { Received, Run } from '../run-endpoint.ts';
import { noteSignIn } from '../store/users.ts';
import { IncomingBody } from './body.ts';
import { refusalBody, successBody } from './envelope.ts';
import { notFound, Refusal } from './api-error.ts';
import { readRest } from './slow-client.ts';

/** What stands behind a path. */
export type Answer =
  | { readonly kind: 'path'; readonly methods: ReadonlyMap<string, { endpoint: Endpoint; run: Run }> }
  | { readonly kind: 'unknown path' }
  | { readonly kind: 'refusal'; readonly refusal: Refusal };

interface Exchange {
  readonly parts: Parts;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly answer: Answer;
}

/** One request from its first byte to its answer: authenticate, count, then the endpoint's own steps. */
export async function exchange(given: Exchange): Promise<void> {
  const done = await perform(given);
  const { parts, request, reply } = given;
  try {
    await parts.limits.kept();
    if (!request.raw.complete)
      await readRest(request.raw, reply.raw, { idleMs: parts.bodyIdleMs, entry: request.entry });
    if ('thrown' in done) refuse(given, done.thrown);
    else send(reply, done);
  } catch (thrown) {
    refuse(given, thrown);
  }
}

type Done = { readonly endpoint: Endpoint; readonly outcome: Outcome } | { readonly thrown: unknown };

/** Does what was asked for. Waits only where there is something to wait for: each turn costs time on every call. */
async function perform(given: Exchange): Promise<Done> {
  try {
    const known = authenticated(given);
    const caller = known instanceof Promise ? await known : known;
    count(given, caller);
    const { endpoint, run } = chosen(given.answer, given.request.method);
    const running = run(received(given, caller));
    return { endpoint, outcome: running instanceof Promise ? await running : running };
  } catch (thrown) {
    return { thrown };
  }
}

function authenticated({ parts, request }: Exchange): Caller | Promise<Caller> {
  parts.days.turn();
  const { headers, socket } = request.raw;
  const keyHash = keyHashOf(request);
  request.entry.credentials = credentialsShown(request, keyHash);
  const address = socket.remoteAddress ?? 'unknown';
  return authenticate(parts.db, parts.limits, { keyHash, headers, address, now: parts.clock.now() });
}

function count({ parts, request: { entry } }: Exchange, { user, company }: Caller): void {
  entry.user = user.id;
  entry.company = company.id;
  parts.limits.countCall(company, entry.arrived);
  // A password is what a person signs in with; a key is a program's.
  if (entry.credentials === 'authorization') noteSignIn(parts.db, user, parts.clock.now());
}

function received({ parts, request, reply }: Exchange, caller: Caller): Received {
  return {
    parts,
    caller,
    params: request.params as Record<string, string>,
    query: request.query as Record<string, unknown>,
    host: hostOf(request.raw),
    incoming: new IncomingBody(request.raw, reply.raw, { idleMs: parts.bodyIdleMs, entry: request.entry }),
  };
}

/** A client of the HTTP of 1996 names no host. */
function hostOf({ headers: { host }, socket }: IncomingMessage): string {
  return host || `${socket.localAddress ?? 'localhost'}:${socket.localPort}`;
}

function keyHashOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['kf-api-key'];
  return typeof key === 'string' && key !== '' ? hexHashOf(key) : undefined;
}

/** Which credentials a request carries, without giving them away: what the request log says of them. */
export function credentialsShown(request: FastifyRequest, keyHash = keyHashOf(request)): string | null {
  if (keyHash !== undefined) return `key ${keyHash.slice(0, 8)}`;
  return request.headers.authorization === undefined ? null : 'authorization';
}

function chosen(answer: Answer, method: string): { endpoint: Endpoint; run: Run } {
  if (answer.kind === 'refusal') throw answer.refusal;
  if (answer.kind === 'unknown path') throw notFound('There is nothing at this path');
  const found = answer.methods.get(method);
  if (found !== undefined) return found;
  const allowed = [...answer.methods.keys()].join(', ');
  throw new Refusal('method_not_allowed', `${method} is not supported here, only ${allowed}`, { allow: allowed });
}

function send(reply: FastifyReply, { endpoint: { answer }, outcome }: Extract<Done, { outcome: unknown }>): void {
  reply.code(answer.status);
  if ('stream' in outcome) {
    void reply.headers(outcome.headers).send(outcome.stream);
    return;
  }
  void reply.header('content-type', json).send(successBody(answer.status, outcome));
}

const json = 'application/json; charset=utf-8';

function refuse({ parts, request, reply }: Exchange, thrown: unknown): void {
  const id = newId();
  // The client went away in the middle of its body: there is nobody to answer.
  if (request.raw.destroyed && !request.raw.complete) {
    parts.log.info('request given up by the client', { error_id: id, path: request.entry.path });
    reply.hijack();
    return;
  }
  const refusal =
    thrown instanceof Refusal ? thrown : new Refusal('internal_error', 'Something went wrong in the service');
  if (refusal !== thrown)
    parts.log.error('request failed', { error_id: id, path: request.entry.path, error: traced(thrown) });
  else parts.log.debug('request refused', { error_id: id, path: request.entry.path, error_code: refusal.code });
  const headers = { ...refusal.headers, 'content-type': json, ...challenge(refusal) };
  void reply.code(refusal.status).headers(headers).send(refusalBody(refusal, id));
}

function traced(thrown: unknown): string {
  return redact(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
}

function challenge({ code }: Refusal): Record<string, string> {
  return code === 'auth_not_provided' || code === 'auth_fail' ? { 'www-authenticate': 'Basic realm="sluice"' } : {};
}
