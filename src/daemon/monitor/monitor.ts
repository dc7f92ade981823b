import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { hostname } from 'node:os';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Config, MonitorAddress } from '../../config/config.ts';
import { build, commitText } from '../../lib/build.ts';
import { Problem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import { requestFault } from '../../lib/request-fault.ts';
import type { Runtime } from '../compose.ts';
import type { Condition } from '../conditions/condition.ts';
import { ConditionCache, readConditions } from '../conditions/read-conditions.ts';
import type { Ticking } from '../firing/scheduler.ts';
import type { Heartbeat } from '../process/heartbeat.ts';
import { readOverview } from '../report/overview.ts';
import { limitConnections } from './connections.ts';
import { Counters } from './counters.ts';
import { Gauges } from './gauges.ts';
import { Readiness, type ReadinessResult } from './readiness.ts';

/** Maximum number of open connections. Scrape requests are short and infrequent, so no scraper needs more. */
const maxConnections = 64;
const patienceMs = 10_000;

/**
 * Gauges of the Prometheus client library whose names look like counters. `nodejs_active_handles` and similar metrics
 * report the same figures by type.
 */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export interface MonitorOptions {
  readonly runtime: Pick<Runtime, 'store' | 'events' | 'clock'>;
  readonly heartbeat: Heartbeat;
  readonly config: () => Config;
  readonly ticking: () => Ticking;
  readonly pages: Pages;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Returns the HTML page for a path that the monitor doesn't serve itself, or undefined if there's no such page. */
export type Pages = (path: URL) => Promise<Answer | undefined>;

/**
 * Serves `/healthz`, `/readyz` and `/metrics` for monitoring, and the HTML pages. Listens only on the configured
 * address, never changes anything, and redacts its output like log lines.
 */
export class Monitor {
  readonly #registry = new Registry();
  readonly #given: MonitorOptions;
  readonly #counters: Counters;
  readonly #gauges: Gauges;
  readonly #readiness: Readiness;
  readonly #cache = new ConditionCache();
  #server: Server | undefined;
  #names: readonly string[] = [];

  constructor(given: MonitorOptions) {
    this.#given = given;
    const { runtime, heartbeat, config, ticking } = given;
    const { store, events, clock } = runtime;
    const registry = this.#registry;
    collectDefaultMetrics({ register: registry });
    for (const name of misnamed) registry.removeSingleMetric(name);
    new Gauge({
      name: 'sluice_build_info',
      help: 'Always 1; the labels show the running version.',
      labelNames: ['version', 'commit', 'node'],
      registers: [registry],
    }).set({ version: build.version, commit: commitText, node: process.version }, 1);
    this.#counters = new Counters({ registry, events, config, now: () => clock.now() });
    const conditions = () => this.#conditions();
    this.#gauges = new Gauges({ registry, store, clock, config, ticking, heartbeat, conditions });
    this.#readiness = new Readiness({
      ...{ events, heartbeat, conditions },
      unwritable: () => store.unwritable(),
      jobs: () => config().jobs.size,
    });
  }

  /** Starts listening and returns the URL. Throws `MONITOR_CANNOT_LISTEN`. */
  async listen({ host, port, names = [] }: MonitorAddress): Promise<{ readonly url: string }> {
    await this.#rememberPublished();
    this.#names = [host, ...names];
    const server = createServer({ requestTimeout: patienceMs }, (request, response) => {
      void this.#serve(request, response);
    });
    limitConnections(server, maxConnections);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(cannotListen(error, { host, port })));
      server.listen({ host, port }, resolve);
    });
    this.#server = server;
    const at = (server.address() as AddressInfo).port;
    return { url: `http://${host.includes(':') ? `[${host}]` : host}:${at}` };
  }

  close(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  #conditions(): Promise<readonly Condition[]> {
    const { runtime, config, heartbeat } = this.#given;
    const { store, clock } = runtime;
    return readConditions(config(), store, { clock, liveness: heartbeat.check(), cache: this.#cache });
  }

  async #rememberPublished(): Promise<void> {
    const { runtime, config } = this.#given;
    const overview = await readOverview(config(), runtime.store, runtime.clock);
    for (const job of config().jobs.values()) {
      const at = overview.publishedAsOf(job);
      if (at !== undefined) this.#counters.remember(job.name, at);
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, headers, text } = await this.#answer(request).catch((error: unknown) => plain(500, String(error)));
    response.writeHead(status, { ...headers, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : redact(text));
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const { method, url = '', headers } = request;
    const fault = requestFault(request);
    if (fault !== undefined) return plain(400, fault);
    if (method !== 'GET' && method !== 'HEAD') return plain(405, 'Only GET and HEAD are supported.');
    if (!isOwnName(headers.host, this.#names)) return plain(421, notOurs(headers.host));
    const path = url.split('?', 1)[0];
    if (path === '/healthz') return looked(this.#readiness.alive());
    if (path === '/readyz') return looked(await this.#readiness.ready());
    if (path !== '/metrics') return this.#page(url);
    await this.#gauges.read();
    const type = this.#registry.contentType;
    return { status: 200, headers: { 'content-type': type }, text: await this.#registry.metrics() };
  }

  async #page(url: string): Promise<Answer> {
    const asked = URL.parse(url, 'http://monitor');
    const page = asked === null ? undefined : await this.#given.pages(asked);
    return page ?? plain(404, 'Not found. The monitor serves /, /jobs/NAME, /healthz, /readyz and /metrics.');
  }
}

const notOurs = (host = ''): string =>
  `Misdirected request: unknown host name ${host}. Use an IP address or localhost, or add the name to "monitor.names" in the config.`;

function looked(looks: readonly ReadinessResult[]): Answer {
  const ok = looks.every((look) => look.ok);
  const text = `${JSON.stringify({ ok, checks: looks }, undefined, 2)}\n`;
  return { status: ok ? 200 : 503, headers: { 'content-type': 'application/json' }, text };
}

function plain(status: number, text: string): Answer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, text: `${text}\n` };
}

function cannotListen(error: Error, { host, port }: MonitorAddress): Problem {
  return new Problem({
    code: 'MONITOR_CANNOT_LISTEN',
    family: 'config',
    message: `The monitor cannot listen: ${error.message}`,
    seen: `${host}:${port}`,
    allowed: 'an address on this machine and a free port',
    next: 'set another address with "monitor" in the config or with --monitor HOST:PORT',
    cause: error,
  });
}

/**
 * Whether a request's `Host` header names this machine: an IP address, a name without a dot, the machine's own name, or
 * one of `names`. This check prevents DNS rebinding, in which a web page makes its own domain resolve to this machine
 * to read responses in the browser. Such a domain is public, so its name contains a dot.
 */
function isOwnName(host: string | undefined, names: readonly string[]): boolean {
  const name = URL.parse(`http://${host ?? 'localhost'}`)?.hostname ?? '';
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || (name !== '' && !name.includes('.'))) return true;
  return [hostname(), ...names].some((own) => own.toLowerCase() === name);
}
