import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import type { Config, Job, Source } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import type { Batch } from '../../../src/sdk/batch.ts';
import { type Connector, defineConnector } from '../../../src/sdk/connector.ts';
import { writeConfig } from '../../journey/home.ts';
import { instanceOf, key, type openWorld } from './world.ts';

interface RealSource {
  readonly source: object;
  readonly query: object | string;
}

/** The config of jobs that read a real server, by default at noon, and the times when they did. */
export async function readReal(
  { clock, folder, destination }: Awaited<ReturnType<typeof openWorld>>,
  { source, query, jobs = 1, schedule = '0 12 * * *' }: RealSource & { jobs?: number; schedule?: string },
): Promise<{ config: Config; asked: number[] }> {
  const job = (n: number) => ({ source: 'real', query, format: 'csv', target: instanceOf(n), schedule });
  const file = await writeConfig(folder, {
    timezone: 'UTC',
    retry: { first: '30s', longest: '10m', within: '6h' },
    destinations: { main: { url: destination.url, api_key: key } },
    sources: { real: source },
    jobs: Object.fromEntries(Array.from({ length: jobs }, (_, n) => [`job${n}`, job(n)])),
  });
  const { config, problems } = await loadConfig(file);
  expect(problems).toEqual([]);
  const asked: number[] = [];
  const held = standWhile(clock);
  const reading = (connector: Connector): Connector => {
    const inner = holding(connector, held);
    return defineConnector({
      ...inner,
      extract: (context) => {
        asked.push(clock.now());
        return inner.extract(context);
      },
    });
  };
  const sources = new Map<Source, Source>();
  const onClock = (one: Job): Job => {
    const { extract } = one;
    if (extract === undefined) return one;
    const known = extract.source;
    const own = sources.get(known) ?? { ...known, connector: reading(known.connector) };
    sources.set(known, own);
    return { ...one, extract: { ...extract, source: own } };
  };
  return { config: { ...config!, jobs: new Map([...config!.jobs].map(([name, one]) => [name, onClock(one)])) }, asked };
}

type Hold = <T>(work: () => Promise<T>) => Promise<T>;

/** Does real work while the clock is stopped. If the work sleeps on this clock, the clock runs again. */
function standWhile(clock: VirtualClock): Hold {
  const now = new AsyncLocalStorage<{ letGo: () => void }>();
  const sleep = clock.sleep.bind(clock);
  clock.sleep = async (milliseconds, signal) => {
    const held = now.getStore();
    if (held === undefined) return sleep(milliseconds, signal);
    held.letGo();
    try {
      await sleep(milliseconds, signal);
    } finally {
      held.letGo = clock.hold();
    }
  };
  return async (work) => {
    const held = { letGo: clock.hold() };
    try {
      return await now.run(held, work);
    } finally {
      held.letGo();
    }
  };
}

/** The connector with a clock that stops while the connector waits for its server. */
function holding(connector: Connector, held: Hold): Connector {
  return defineConnector({
    ...connector,
    extract: async (context) => {
      const extraction = await held(() => Promise.resolve(connector.extract(context)));
      const batches = (): AsyncIterator<Batch> => {
        const inner = extraction.batches[Symbol.asyncIterator]();
        return {
          next: () => held(() => Promise.resolve(inner.next())),
          return: () => held(async () => (await inner.return?.()) ?? { done: true, value: undefined }),
        };
      };
      return Object.assign(Object.create(extraction) as typeof extraction, {
        batches: { [Symbol.asyncIterator]: batches },
      });
    },
  });
}

/** A connector that talks to a real server while the clock is stopped. */
export const standing = (connector: Connector, clock: VirtualClock): Connector => holding(connector, standWhile(clock));

/** Stops the clock while an HTTP request of this process is in progress. */
export function standForRequests(clock: VirtualClock): void {
  const out = new Map<unknown, () => void>();
  const requestOf = (message: unknown): unknown => (message as { request: unknown }).request;
  const begin = (message: unknown): void => void out.set(requestOf(message), clock.hold());
  const end = (message: unknown): void => {
    out.get(requestOf(message))?.();
    out.delete(requestOf(message));
  };
  const heard = [
    ['undici:request:create', begin],
    ['undici:request:trailers', end],
    ['undici:request:error', end],
  ] as const;
  for (const [name, listener] of heard) subscribe(name, listener);
  onTestFinished(() => {
    for (const [name, listener] of heard) unsubscribe(name, listener);
  });
}

/** A proxy to a server. While it's closed, each connection is reset as soon as it's established. */
export class Door {
  isShut = false;
  /** Connections so far, including refused ones. */
  knocks = 0;
  /** The number of current connections, and the most there ever were at once. */
  open = 0;
  most = 0;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  /** A proxy to a port on this machine; it's closed when the test ends. */
  static async before(port: number): Promise<Door> {
    const door = new Door();
    const server = createServer((client) => door.#knock(client, port));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    door.#port = (server.address() as AddressInfo).port;
    onTestFinished(() => {
      server.close();
      for (const socket of door.#sockets) socket.destroy();
    });
    return door;
  }

  get port(): number {
    return this.#port;
  }

  #knock(client: Socket, port: number): void {
    this.knocks += 1;
    this.open += 1;
    this.most = Math.max(this.most, this.open);
    client.on('close', () => {
      this.open -= 1;
    });
    this.#track(client);
    if (this.isShut) return void client.resetAndDestroy();
    const server = connect(port, '127.0.0.1');
    this.#track(server);
    client.pipe(server).pipe(client);
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
  }
}
