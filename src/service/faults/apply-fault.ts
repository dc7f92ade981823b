import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { newId } from '../../lib/ids.ts';
import { errorStatuses } from '../http/api-error.ts';
import { IncomingBody } from '../http/body.ts';
import { credentialsShown } from '../http/exchange.ts';
import { readRest } from '../http/slow-client.ts';
import { type FaultRule, takesEffect } from './fault-rule.ts';
import type { MatchedFault } from './fault-rules.ts';

/** A request whose response hasn't been sent yet. */
interface PendingRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly bodyIdleMs: number;
}

/**
 * Injects a fault into a request before the endpoint processes it. If the endpoint should still process the request,
 * sets `request.fault`, which changes the response. Otherwise, sends the response or closes the connection.
 */
export async function applyFault({ rule, description }: MatchedFault, scene: PendingRequest): Promise<void> {
  const { request, reply } = scene;
  request.entry.fault = description;
  request.entry.credentials = credentialsShown(request);
  if (!(await isConnectedAfter(rule.delay_ms ?? 0, reply))) return void reply.hijack();
  if (takesEffect(rule)) {
    request.fault = rule;
    return;
  }
  if (rule.answer !== undefined) return sendAnswer(rule.answer, scene);
  if (rule.reset === 'after_body') await drainBody(scene);
  reply.hijack();
  request.raw.socket.resetAndDestroy();
}

/** Waits for the given number of milliseconds. Returns whether the client is still connected. */
export async function isConnectedAfter(milliseconds: number, { raw }: FastifyReply): Promise<boolean> {
  if (milliseconds > 0) {
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    raw.once('close', leave);
    await wait(milliseconds, undefined, { signal: gone.signal }).catch(() => undefined);
    raw.off('close', leave);
  }
  return !raw.destroyed && raw.socket?.destroyed === false;
}

/** Reads and discards the body until it ends or the connection closes. */
async function drainBody({ request, reply, bodyIdleMs }: PendingRequest): Promise<void> {
  try {
    const body = new IncomingBody(request.raw, reply.raw, { idleMs: bodyIdleMs, entry: request.entry });
    for await (const _piece of body.chunks());
  } catch {
    // The fault leaves the request without a response, so a read error can't be reported.
  }
}

async function sendAnswer(
  answer: NonNullable<FaultRule['answer']>,
  { request, reply, bodyIdleMs }: PendingRequest,
): Promise<void> {
  const { status, headers = {}, body } = answer;
  const text = body === undefined ? defaultBody(status) : typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
  // Some clients read the response only after they have sent the whole body, so discard the body here.
  request.raw.resume();
  await readRest(request.raw, reply.raw, { idleMs: bodyIdleMs, entry: request.entry });
  void reply
    .code(status)
    .headers({ 'content-type': type, ...lowerCase(headers) })
    .send(text);
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** The body that the service itself sends with this status, so that clients parse an injected error like a real one. */
function defaultBody(status: number): string {
  if (status < 400) return JSON.stringify({ meta: { success: true, status }, data: {} });
  const code = Object.entries(errorStatuses).find(([, one]) => one === status)?.[0] ?? 'injected';
  const meta = { success: false, status, error_code: code, error_desc: 'Injected by a fault rule', error_id: newId() };
  return JSON.stringify({ meta });
}
