import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { instanceOf } from './daemon-world.ts';

/** A destination of every account, which accepts all uploads at once. */
export interface Service {
  readonly url: string;
  /** Monotonic arrival times of the requests, by account. */
  readonly arrivals: Map<string, number[]>;
  stop(): void;
}

export async function startService(): Promise<Service> {
  const arrivals = new Map<string, number[]>();
  const answer = JSON.stringify({ meta: { success: true, status: 200 }, data: {} });
  const server = createServer((request, response) => {
    const account = String(request.headers['kf-api-key']);
    const seen = arrivals.get(account) ?? [];
    arrivals.set(account, seen);
    seen.push(performance.now());
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer));
  });
  const port = await listening(server);
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/api/1.0`, arrivals, stop };
}

/** Forwards connections to a port of this machine. Each response of the server arrives later by `latencyMs`. */
export async function startSlowLink(port: number, latencyMs: number): Promise<{ port: number; stop(): void }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((client) => {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => [client, upstream].map((one) => one.destroy()));
    }
    client.setNoDelay(true).pipe(upstream);
    upstream.on('data', (bytes) => setTimeout(() => client.write(bytes), latencyMs));
  });
  const stop = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: await listening(server), stop };
}

async function listening(server: { listen(port: number, host: string): unknown; address(): unknown }): Promise<number> {
  await once(server.listen(0, '127.0.0.1') as NodeJS.EventEmitter, 'listening');
  return (server.address() as AddressInfo).port;
}

interface FleetGiven {
  readonly url: string;
  /** A folder, or the URL of a database. */
  readonly state: string;
  readonly accounts: number;
  readonly jobs: number;
  readonly always: boolean;
  readonly schedule?: object;
}

/** Writes a config whose jobs send a small file to a target of their own, each to the next account. */
export async function writeFleet(folder: string, given: FleetGiven): Promise<string> {
  const { url, state, accounts, jobs, always, schedule } = given;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'sales.csv'), 'month,sales\n2026-01,1000\n2026-02,2000\n');
  const names = Array.from({ length: accounts }, (_, account) => `account-${account}`);
  const limits = { requests_per_day: 1_000_000, ask_usage: false, when_short: 'first_come' };
  const destinations = Object.fromEntries(names.map((name) => [name, { url, api_key: name, ...limits }]));
  const all = Array.from({ length: jobs }, (_, job) => {
    const target = { destination: names[job % accounts], target: instanceOf(job) };
    return [`job-${job}`, { source: 'files', query: 'sales.csv', format: 'csv', always, schedule, ...target }];
  });
  const sources = { files: { connector: 'file' } };
  const cache = state.includes('://') ? { cache: './cache' } : {};
  const file = join(folder, 'sluice.yaml');
  const config = { version: 1, state, ...cache, destinations, sources, jobs: Object.fromEntries(all) };
  await writeFile(file, JSON.stringify(config));
  return file;
}
