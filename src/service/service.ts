import { access, constants } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Clock, systemClock } from '../lib/clock.ts';
import { refuseLinksIn } from '../lib/foreign-links.ts';
import { type Log, quietLog } from '../lib/log.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { Problem } from '../lib/problem.ts';
import { collectResources } from './collect.ts';
import type { ServiceContext } from './context.ts';
import { serialQueue } from './control/context.ts';
import { type ControlOptions, type RunningControl, startControl } from './control/control.ts';
import { MovableClock } from './control/movable-clock.ts';
import { FaultRules } from './faults/fault-rules.ts';
import { createFirstCompany } from './first-company.ts';
import { loadFixtures } from './fixtures/load.ts';
import { type App, buildApp } from './http/app.ts';
import { parseOrigin } from './http/cors.ts';
import { prefixes } from './http/prefixes.ts';
import { parsePublicUrl } from './http/public-url.ts';
import { RequestLog } from './http/request-log.ts';
import { Limits } from './limits/limits.ts';
import { PauseGate } from './pause-gate.ts';
import type { Reach } from './refresh/address-policy.ts';
import type { Pull } from './refresh/pull.ts';
import { RefreshWorker } from './refresh/worker.ts';
import { hasAccounts } from './store/accounts.ts';
import { Database } from './store/database.ts';
import { knownBlobs } from './store/instances.ts';
import { startTicking } from './ticking.ts';
import type { Blobs } from './uploads/blobs.ts';
import { FolderBlobs } from './uploads/folder-blobs.ts';
import { MemoryBlobs } from './uploads/memory-blobs.ts';
import { DailySnapshots } from './usage/daily-snapshots.ts';

/** How to start the service. */
export interface ServiceOptions {
  /** Address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on. If 0 (the default), the operating system selects a free port. */
  readonly port?: number;
  /** URL that clients use, if the service is behind a proxy. By default, each request's Host header applies. */
  readonly publicUrl?: string;
  /** The origin whose web pages may call the service from browsers, or `*` for all. By default, none may. */
  readonly corsOrigin?: string;
  /** Where to store data: in a folder or in memory. Data in memory is lost when the service stops. */
  readonly data: { readonly folder: string } | 'memory';
  /** A YAML or JSON file that defines companies to create; see docs/service.md. */
  readonly fixtures?: string;
  /** Maximum size of an instance's data, in bytes. Default: 10,485,760. */
  readonly uploadLimitBytes?: number;
  /** Whether rate limits are enforced. If false, calls are counted but never rejected. */
  readonly limits?: boolean;
  /** File to which completed requests are logged, as JSON lines. */
  readonly requestLogFile?: string;
  /** Stall timeout for request bodies, in milliseconds. Default: 60,000. */
  readonly bodyIdleMs?: number;
  readonly clock?: Clock;
  /** Reads the data for refreshes. If absent, refreshes fail. */
  readonly pull?: Pull;
  /**
   * If true, refreshes may connect to loopback, link-local and private addresses. By default, they may not, except that
   * they may connect to loopback if the service itself listens on loopback.
   */
  readonly allowPrivateAddresses?: boolean;
  /** How often to check for due work, in milliseconds. Default: 1,000. */
  readonly tickMs?: number;
  /** If set, the control interface is started too. Set this only in tests. */
  readonly control?: ControlOptions;
  readonly log?: Log;
}

/** A running service. Call `close` to stop it; no connection, timer or process is left afterwards. */
export interface RunningService {
  /** Base URL, including the API version, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** The first admin's API key. Present only if this start created the admin. */
  readonly firstKey?: string;
  readonly requestLog: RequestLog;
  /** Present if `control` was set. */
  readonly control?: RunningControl;
  /**
   * Stops the service within a few seconds. Waits up to two seconds for requests in progress, and puts running
   * refreshes back in the queue.
   */
  close(): Promise<void>;
}

const tenMegabytes = 10_485_760;
const graceMs = 2_000;

/** Starts the service. Throws a Problem if the data folder, the fixtures or the address can't be used. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  if (options.data !== 'memory') await makeFolders(options.data.folder);
  const requestLog = new RequestLog(options.requestLogFile);
  const undo: (() => unknown)[] = [() => requestLog.close()];
  try {
    const db = await Database.open(options.data);
    undo.push(() => db.close());
    const testControls = options.control && createTestControls(options.clock);
    const context = await assemble(db, options, testControls);
    const { fixtures } = options;
    if (fixtures !== undefined) await loadFixtures(db, fixtures, context.clock.now());
    await sweep(context);
    const app = buildApp(context, await collectResources(), requestLog);
    const port = await listen(app.server, options);
    undo.push(() => app.server.close());
    // Create the key only after the service listens. Otherwise, a start that fails would create a key that is never
    // shown.
    const firstKey = hasAccounts(db) ? undefined : createFirstCompany(db, context.clock.now());
    const running = { service: context, app, requestLog, fixtures, firstKey, serially: serialQueue() };
    const control = testControls && (await startControl({ ...running, ...testControls }, options.control!));
    context.refreshes.start();
    const url = `http://${hostInUrl(options.host ?? '127.0.0.1')}:${port}${prefixes[0]}`;
    const stopTicking = startTicking(context, options.tickMs ?? 1_000);
    const close = closer({ app, context, requestLog, control, stopTicking });
    return { url, port, requestLog, close, ...(firstKey && { firstKey }), ...(control && { control }) };
  } catch (thrown) {
    for (const step of undo.reverse()) await step();
    throw thrown;
  }
}

interface TestControls {
  readonly clock: MovableClock;
  readonly faults: FaultRules;
  readonly gate: PauseGate;
}

function createTestControls(clock: Clock = systemClock): TestControls {
  return { clock: new MovableClock(clock), faults: new FaultRules(), gate: new PauseGate() };
}

async function makeFolders(folder: string): Promise<void> {
  try {
    makeFolder(documentsIn(folder), 0o700);
    refuseLinksIn(folder);
    await access(folder, constants.W_OK);
  } catch (thrown) {
    throw new Problem({
      code: 'SERVICE_DATA_FOLDER',
      family: 'config',
      message: `the data folder cannot be used: ${(thrown as Error).message}`,
      where: { file: folder },
      next: 'set --data to a writable folder, or use --memory to keep everything in memory',
      cause: thrown,
    });
  }
}

const documentsIn = (folder: string): string => join(folder, 'documents');

async function assemble(db: Database, options: ServiceOptions, testControls?: TestControls): Promise<ServiceContext> {
  const { log = quietLog, uploadLimitBytes = tenMegabytes, data, pull, bodyIdleMs = 60_000 } = options;
  const publicUrl = options.publicUrl === undefined ? undefined : parsePublicUrl(options.publicUrl);
  const corsOrigin = options.corsOrigin === undefined ? undefined : parseOrigin(options.corsOrigin);
  const clock = testControls?.clock ?? options.clock ?? systemClock;
  const blobs: Blobs = data === 'memory' ? new MemoryBlobs() : new FolderBlobs(documentsIn(data.folder));
  const limits = new Limits({ db, clock, enforced: options.limits ?? true });
  const refreshes = new RefreshWorker({ db, blobs, clock, log, uploadLimitBytes, pull, reach: reachOf(options) });
  const snapshots = new DailySnapshots(db, clock);
  snapshots.rollOver();
  const own = { publicUrl, corsOrigin, uploadLimitBytes, bodyIdleMs, testControls };
  return { db, blobs, limits, refreshes, snapshots, clock, log, ...own };
}

async function sweep({ db, blobs, log }: ServiceContext): Promise<void> {
  const orphans = await blobs.sweep(knownBlobs(db));
  if (orphans > 0) log.info('removed unused documents', { orphans });
}

async function listen(app: FastifyInstance, { host = '127.0.0.1', port = 0 }: ServiceOptions): Promise<number> {
  try {
    await app.listen({ host, port });
    return (app.server.address() as AddressInfo).port;
  } catch (thrown) {
    await app.close();
    throw new Problem({
      code: 'SERVICE_ADDRESS',
      family: 'config',
      message: `the service cannot listen on ${host}:${port}: ${(thrown as Error).message}`,
      next: 'set another --host or --port; --port 0 selects a free port',
      cause: thrown,
    });
  }
}

function reachOf({ host = '127.0.0.1', allowPrivateAddresses = false }: ServiceOptions): Reach {
  return { host, allowPrivate: allowPrivateAddresses };
}

/**
 * Returns the host as it appears in a URL. Replaces a wildcard address with the loopback address, and puts an IPv6
 * address in brackets.
 */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

interface Running {
  readonly app: App;
  readonly context: ServiceContext;
  readonly requestLog: RequestLog;
  readonly control: RunningControl | undefined;
  readonly stopTicking: () => void;
}

function closer(given: Running): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= close(given);
    return closing;
  };
}

async function close({ app, context, requestLog, control, stopTicking }: Running): Promise<void> {
  stopTicking();
  await control?.close();
  const timer = setTimeout(() => app.server.server.closeAllConnections(), graceMs);
  const refreshes = context.refreshes.stop();
  await app.server.close();
  clearTimeout(timer);
  await Promise.all([refreshes, app.settled()]);
  await requestLog.close();
  context.db.close();
}
