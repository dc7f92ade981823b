import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { forTest, type Scope } from './process.ts';

/** What happens to an upload on its way to the service. Everything else passes unchanged. */
export type Fault =
  /** The proxy reads the body, then responds in place of the service. */
  | {
      readonly answer: number;
      readonly code?: string;
      readonly words?: string;
      readonly headers?: Record<string, string>;
    }
  /** Something other than the service responds with 200. */
  | { readonly page: string }
  /** The connection is reset before the body is read, after half of it, or after all of it was discarded. */
  | { readonly reset: 'before the body' | 'after half of the body' | 'after the body' }
  /** The service accepts the upload, but its response is lost or truncated. */
  | { readonly answerIs: 'lost' | 'cut' }
  /** There is never a response. */
  | { readonly hole: true }
  /** Half of the body is forwarded; then nothing moves until `drop`. */
  | { readonly stall: true }
  /** Forwarded once the promise resolves. */
  | { readonly after: Promise<unknown> }
  /** The upload is forwarded unchanged, for scripts that affect only a later upload. */
  | 'pass';

export interface Met {
  readonly instance: string;
  readonly fault: Fault;
}

export interface FaultProxy {
  /** Base URL to use in place of the service's. */
  readonly url: string;
  /** Every upload seen, and what was done to it. */
  readonly met: readonly Met[];
  /** What happens to the next uploads to an instance, in order; uploads after those are forwarded. */
  script(instance: string, ...faults: Fault[]): void;
  /** What happens to each upload to an instance that has no script. */
  always(instance: string, fault: Fault): void;
  /** After this, forwards to another service, so that a restarted service keeps its address. */
  aim(upstream: string): void;
  /** Breaks all stalled connections, on both sides. */
  drop(): void;
}

/**
 * A small proxy on real sockets between the command line and the service. It injects the faults that a test requests.
 */
export async function openFaultProxy(service: string, scope: Scope = forTest): Promise<FaultProxy> {
  let upstream = service;
  const scripts = new Map<string, Fault[]>();
  const standing = new Map<string, Fault>();
  const met: Met[] = [];
  const stalled: (() => void)[] = [];
  // Without a timeout for idle connections: on a busy machine, the proxy would close one just as a request arrives.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, answer) => {
    const instance = /datasource-instances\/([^/?]+)\/data/.exec(incoming.url ?? '')?.[1];
    const counts = incoming.method === 'PUT' && instance !== undefined;
    const fault = counts ? (scripts.get(instance)?.shift() ?? standing.get(instance) ?? 'pass') : 'pass';
    if (counts) met.push({ instance, fault });
    play(fault, { incoming, answer, upstream, onStall: (drop) => stalled.push(drop) });
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${new URL(upstream).pathname}`,
    met,
    script: (instance, ...faults) => void scripts.set(instance, [...(scripts.get(instance) ?? []), ...faults]),
    always: (instance, fault) => void standing.set(instance, fault),
    aim: (to) => {
      upstream = to;
    },
    drop: () => {
      for (const drop of stalled.splice(0)) drop();
    },
  };
}

interface Scene {
  readonly incoming: IncomingMessage;
  readonly answer: ServerResponse;
  readonly upstream: string;
  readonly onStall: (drop: () => void) => void;
}

function play(fault: Fault, scene: Scene): void {
  const { incoming, answer } = scene;
  incoming.on('error', () => undefined);
  answer.on('error', () => undefined);
  if (fault === 'pass') forward(scene);
  else if ('answer' in fault) swallow(incoming, () => answerBy(fault, answer));
  else if ('page' in fault)
    swallow(incoming, () => answer.writeHead(200, { 'content-type': 'text/html' }).end(fault.page));
  else if ('hole' in fault) incoming.resume();
  else if ('after' in fault) void fault.after.then(() => forward(scene));
  else if ('stall' in fault) forward(scene, { atHalf: () => scene.onStall(() => incoming.socket.destroy()) });
  else if ('answerIs' in fault) forward(scene, { lose: fault.answerIs });
  else if (fault.reset === 'before the body') incoming.socket.resetAndDestroy();
  else if (fault.reset === 'after the body') swallow(incoming, () => incoming.socket.resetAndDestroy());
  else forward(scene, { atHalf: () => incoming.socket.resetAndDestroy() });
}

function swallow(incoming: IncomingMessage, then: () => void): void {
  incoming.resume().on('end', then);
}

function answerBy(fault: Extract<Fault, { answer: number }>, answer: ServerResponse): void {
  const { answer: status, code = 'made_up', words = 'The test says so' } = fault;
  const meta = { success: status < 300, status, ...(status < 300 ? {} : { error_code: code, error_desc: words }) };
  answer.writeHead(status, { 'content-type': 'application/json', ...fault.headers });
  answer.end(JSON.stringify({ meta, data: {} }));
}

interface Breaking {
  /** Called once: half of the body has been forwarded, and nothing more will be. */
  readonly atHalf?: () => void;
  readonly lose?: 'lost' | 'cut';
}

function forward({ incoming, answer, upstream }: Scene, { atHalf, lose }: Breaking = {}): void {
  const { hostname, port } = new URL(upstream);
  const { method, url: path, headers } = incoming;
  const outgoing = request({ hostname, port, method, path, headers, agent: false });
  const half = Number(headers['content-length'] ?? 0) / 2;
  let passed = 0;
  incoming.on('data', (piece: Buffer) => {
    const before = passed;
    passed += piece.length;
    outgoing.write(atHalf === undefined || before >= half ? piece : piece.subarray(0, Math.ceil(half - before)));
    if (atHalf === undefined || before >= half || passed < half) return;
    incoming.pause();
    atHalf();
  });
  incoming.on('end', () => outgoing.end());
  // If one side disconnects, the other is disconnected too.
  const end = () => outgoing.destroy();
  incoming.socket.on('close', end);
  outgoing.on('close', () => incoming.socket.off('close', end));
  outgoing.on('error', () => answer.destroy());
  outgoing.on('response', (response) => {
    if (lose === 'lost') {
      response.resume().on('end', () => incoming.socket.resetAndDestroy());
      return;
    }
    answer.writeHead(response.statusCode ?? 502, response.headers);
    if (lose === undefined) response.pipe(answer);
    else
      response.once('data', (piece: Buffer) =>
        answer.write(piece.subarray(0, piece.length / 2), () => answer.destroy()),
      );
  });
}
