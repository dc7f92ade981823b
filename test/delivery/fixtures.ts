import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Destination, Job } from '../../src/config/config.ts';
import { type DeliverOptions, type DeliveryResult, deliverRows } from '../../src/delivery/deliver.ts';
import type { DeliveryEvents } from '../../src/delivery/events.ts';
import { Gateway } from '../../src/delivery/gateway.ts';
import { type SettleResult, settle } from '../../src/delivery/settle.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import type { Emit } from '../../src/lib/events.ts';
import type { Store } from '../../src/state/store.ts';
import { draftOf, spool } from '../state/fixtures.ts';

/** One request as the server saw it; `body` is complete only if the client sent all of it. */
export interface Seen {
  /** Monotonic milliseconds at which its headers arrived. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** The client's end of its connection. */
  readonly port: number | undefined;
  body: string;
}

/** How the server handles a request. Called when the request's headers have arrived. */
export type Play = (request: IncomingMessage, response: ServerResponse, seen: Seen) => void | Promise<void>;

export interface Stage {
  readonly url: string;
  readonly seen: Seen[];
  /** Handlers for the next requests, in order. Requests after those are accepted. */
  readonly script: Play[];
  /** Used if the script is empty. */
  otherwise: Play;
  close(): Promise<void>;
}

const servers: Stage[] = [];

export async function openStage(): Promise<Stage> {
  const seen: Seen[] = [];
  const script: Play[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    const entry: Seen = {
      at: systemClock.monotonic(),
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      port: request.socket.remotePort,
      body: '',
    };
    seen.push(entry);
    request.on('error', () => undefined);
    await (script.shift() ?? stage.otherwise)(request, response, entry);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => closeServer(server, sockets);
  const stage: Stage = { url: `http://127.0.0.1:${port}/api/1.0`, seen, script, otherwise: take, close };
  servers.push(stage);
  return stage;
}

async function closeServer(server: Server, sockets: Set<Socket>): Promise<void> {
  server.close();
  for (const socket of sockets) socket.destroy();
  await once(server, 'close');
}

export async function closeStages(): Promise<void> {
  for (const gateway of gateways.splice(0)) await gateway.close();
  await Promise.all(servers.splice(0).map((stage) => stage.close()));
}

export async function readBody(request: IncomingMessage, seen: Seen): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  seen.body = Buffer.concat(pieces).toString();
}

/** Accepts the upload as the service does. */
export const take: Play = async (request, response, seen) => {
  await readBody(request, seen);
  answer(200, { data: {} })(request, response, seen);
};

export interface Script {
  readonly code?: string;
  readonly words?: string;
  readonly headers?: Record<string, string>;
  readonly data?: object;
  readonly meta?: object;
}

/** Reads the body, then responds with the service's envelope. */
export function say(status: number, script: Script = {}): Play {
  return async (request, response, seen) => {
    await readBody(request, seen);
    answer(status, script)(request, response, seen);
  };
}

/** Responds at once, whether or not the body has arrived. */
export function answer(status: number, script: Script = {}): Play {
  const meta = {
    success: status < 300,
    status,
    ...(script.code === undefined ? {} : { error_code: script.code, error_desc: script.words ?? script.code }),
    ...script.meta,
  };
  const body = JSON.stringify(script.data === undefined ? { meta } : { meta, data: script.data });
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...script.headers });
    response.end(body);
  };
}

export function destinationAt(url: string, more: Partial<Destination> = {}): Destination {
  return {
    name: 'main',
    url,
    credentials: { kind: 'api_key', key: 'k'.repeat(40) },
    account: 'account',
    requestsPerSecond: 5,
    requestsPerDay: 1_000,
    reserveRequests: 0,
    whenShort: 'first_come',
    askUsage: false,
    uploadLimitBytes: 10_485_760,
    timeoutMs: 5_000,
    attempts: 3,
    ...more,
  };
}

export interface Heard {
  readonly events: { readonly name: string; readonly facts: object }[];
  readonly names: () => string[];
  readonly emit: Emit<DeliveryEvents>;
}

export function listener(): Heard {
  const events: { name: string; facts: object }[] = [];
  const emit: Emit<DeliveryEvents> = (name, facts) => {
    JSON.stringify(facts);
    events.push({ name, facts });
  };
  return { events, emit, names: () => events.map(({ name }) => name) };
}

const gateways: Gateway[] = [];

export function openGateway(given: {
  store: Store;
  destinations: Iterable<Destination>;
  clock?: Clock;
  emit?: Emit<DeliveryEvents>;
}): Gateway {
  const gateway = new Gateway({ clock: systemClock, emit: () => undefined, ...given });
  gateways.push(gateway);
  return gateway;
}

export function jobFor(destination: Destination, instance: string, more: Partial<Job> = {}): Job {
  return {
    name: `job-${instance}`,
    line: 1,
    destination,
    target: { kind: 'instance', instance },
    enabled: true,
    always: false,
    allowEmpty: false,
    ...more,
  };
}

/** Sends what is owed, as a sync does. `only` limits this to payloads with these outbox IDs. */
export async function deliverOwed({
  only,
  ...given
}: DeliverOptions & { only?: readonly number[] }): Promise<DeliveryResult[]> {
  const owed = await given.gateway.store.outbox.inState('owed');
  return deliverRows(
    owed.filter(({ id }) => only === undefined || only.includes(id)),
    given,
  );
}

/** Starts a run of a job and lets it pass on `text`. */
export async function commitText(
  gateway: Gateway,
  options: { job: Job; text: string; asOf?: number; rows?: number },
): Promise<SettleResult> {
  const { job, text, asOf = gateway.clock.now(), rows = 1 } = options;
  const run = await gateway.store.runs.begin({ job: job.name, origin: 'schedule' });
  const payload = { ...spool(gateway.store, { run, text, asOf }), rows };
  return settle(gateway, { job, run, payload: draftOf(payload) });
}

/** The most arrivals in any half-open second. */
export function maxInASecond(arrivals: readonly number[]): number {
  const sorted = arrivals.toSorted((a, b) => a - b);
  let most = 0;
  for (let first = 0, last = 0; last < sorted.length; last++) {
    while ((sorted[last] as number) - (sorted[first] as number) >= 1000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
