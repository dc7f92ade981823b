import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { onTestFinished } from 'vitest';
import type { Config, Destination, Job } from '../../src/config/config.ts';
import { composeRuntime, type Runtime } from '../../src/daemon/compose.ts';
import { Daemon } from '../../src/daemon/daemon.ts';
import type { SluiceEvents } from '../../src/daemon/events.ts';
import csv from '../../src/formats/all/csv.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { scheduleKey } from '../../src/schedule/schedule.ts';
import type { Timer } from '../../src/schedule/timer.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';
import { type Connector, defineConnector } from '../../src/sdk/connector.ts';
import { withDefaults } from '../../src/sdk/option.ts';
import { startService } from '../../src/service/service.ts';
import { ShiftedClock } from '../clocks.ts';
import { makeFolder, until } from '../journey/process.ts';
import { dropState, stateFor } from '../state/engines.ts';

const key = 'ad'.repeat(20);
const columns: readonly Column[] = [{ name: 'value', type: 'text' }];

const hour = 3_600_000;
/** The same for all clocks of a test, even if the hour turns while they are created. */
const toHalfPast = hour / 2 - (systemClock.now() % hour);

/** A clock that starts at about half past an hour, so that no hour begins during a test. */
export const clockAtHalfPast = () => new ShiftedClock({ wall: toHalfPast });

/** The payload fields of events. */
export const payloadFacts = {
  id: 1,
  job: 'orders',
  run: 'r',
  destination: 'main',
  instance: 'i',
  sha256: 'f00d',
  bytes: 1,
  rows: 1,
};

export interface Service {
  readonly url: string;
  instance(): Promise<string>;
  /** What an instance shows; undefined if it never had data. */
  data(instance: string): Promise<string | undefined>;
}

/** The embedded service, in this process and in memory. */
export async function openService(): Promise<Service> {
  const folder = await makeFolder();
  const fixtures = join(folder, 'fixtures.json');
  const user = { email: 'a@test.example', first_name: 'A', last_name: 'B', role: 'Admin', api_keys: [key] };
  await writeFile(fixtures, JSON.stringify({ companies: [{ id: 'acme', name: 'Acme', plan: 'grow', users: [user] }] }));
  const service = await startService({ data: 'memory', fixtures, limits: false });
  onTestFinished(() => service.close());
  return {
    url: service.url,
    instance: async () => {
      const properties = { endpoint_url: 'http://127.0.0.1:9/', method: 'get', parameters: '[]' };
      const source = { name: 'Pushed', format: 'csv', connector: 'simple_rest', refresh_interval: 0, no_refresh: true };
      const { body } = await request(`${service.url}/datasources`, {
        method: 'POST',
        headers: { 'kf-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ ...source, properties }),
      });
      const { meta } = (await body.json()) as { meta: { instance_location: string } };
      return meta.instance_location.split('/').at(-1) as string;
    },
    data: async (instance) => {
      const headers = { 'kf-api-key': key };
      const { statusCode, body } = await request(`${service.url}/datasource-instances/${instance}/data?raw=true`, {
        headers,
      });
      const text = await body.text();
      return statusCode === 200 ? text : undefined;
    },
  };
}

/** A source with one column. The test controls its next result and sees how often it was read. */
export class Source {
  asked = 0;
  /** The number of current extracts, and the most that ever ran at once. */
  open = 0;
  most = 0;
  /** The logical times that extracts ran for; undefined for the present. */
  readonly stoodFor: (number | undefined)[] = [];
  says: (signal: AbortSignal) => Promise<string> = async () => 'hello';

  readonly connector: Connector = defineConnector({
    id: 'test',
    title: 'Test',
    summary: 'Made by a test.',
    source: {},
    query: {},
    check: async () => 'fine',
    extract: async ({ signal, logicalAt }) => {
      this.stoodFor.push(logicalAt);
      return { columns, batches: this.#batches(signal) };
    },
  });

  async *#batches(signal: AbortSignal) {
    this.asked++;
    this.open++;
    this.most = Math.max(this.most, this.open);
    try {
      yield batchOf(columns, [[await this.says(signal)]]);
    } finally {
      this.open--;
    }
  }
}

/** A source that waits until the test releases it or the run is stopped. */
export function gate(): { says: Source['says']; open: (text: string) => void } {
  const { promise, resolve } = Promise.withResolvers<string>();
  const says = (signal: AbortSignal): Promise<string> =>
    Promise.race([
      promise,
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
    ]);
  return { says, open: resolve };
}

export function destinationOf(url: string, more: Partial<Destination> = {}): Destination {
  return {
    name: 'main',
    url,
    credentials: { kind: 'api_key', key },
    account: 'account',
    requestsPerSecond: 5,
    requestsPerDay: 1000,
    reserveRequests: 0,
    whenShort: 'first_come',
    askUsage: false,
    uploadLimitBytes: 10_485_760,
    timeoutMs: 5000,
    attempts: 3,
    ...more,
  };
}

export interface JobGiven extends Partial<Omit<Job, 'destination' | 'target'>> {
  readonly name: string;
  readonly destination: Destination;
  readonly instance: string;
  readonly source: Source;
  readonly cron?: string;
}

export function jobOf({ name, destination, instance, source, cron = '0 * * * *', ...more }: JobGiven): Job {
  return {
    name,
    line: 1,
    destination,
    target: { kind: 'instance', instance },
    schedule: { cron, timezone: 'UTC' },
    enabled: true,
    always: false,
    allowEmpty: false,
    extract: {
      source: { name: 'made', connector: source.connector, options: {} },
      query: {},
      transforms: [],
      format: csv,
      formatOptions: withDefaults(csv.options, {}),
      stallTimeoutMs: 0,
    },
    ...more,
  };
}

/** Folders of states that are dropped from the server at the end of their test. */
const onServer = new Set<string>();

export function configOf(folder: string, jobs: readonly Job[], more: readonly Destination[] = []): Config {
  const destinations = [...jobs.map(({ destination }) => destination), ...more];
  const state = join(folder, 'state');
  const { database } = stateFor(state);
  // The first call comes before the daemon is started, so the state is dropped after the daemon has stopped.
  if (database !== undefined && !onServer.has(state)) onTestFinished(() => dropState(state));
  onServer.add(state);
  return {
    file: join(folder, 'sluice.yaml'),
    folder,
    state,
    ...(database === undefined ? {} : { stateDatabase: database }),
    destinations: new Map(destinations.map((one) => [one.name, one])),
    onStartError: 'ignore',
    concurrency: 4,
    sources: new Map(),
    jobs: new Map(jobs.map((job) => [job.name, job])),
  };
}

/** The service, an instance, a source, and the config of the job `orders`, which reads the source into the instance. */
export async function setUp(more: Partial<JobGiven> = {}) {
  const [folder, service] = await Promise.all([makeFolder(), openService()]);
  const destination = destinationOf(service.url);
  const source = new Source();
  const instance = await service.instance();
  const job = jobOf({ name: 'orders', destination, instance, source, ...more });
  return { folder, service, destination, source, instance, job, config: configOf(folder, [job]) };
}

export interface Event {
  readonly name: keyof SluiceEvents;
  readonly facts: Record<string, unknown>;
}

export interface Started {
  readonly runtime: Runtime;
  readonly daemon: Daemon;
  readonly heard: Event[];
  /** Waits for an event like this one. */
  hear(name: keyof SluiceEvents, facts?: Record<string, unknown>): Promise<Event>;
  count(name: keyof SluiceEvents, facts?: Record<string, unknown>): number;
  /** Stops the daemon as an operator would, once. */
  stop(): Promise<void>;
}

/**
 * The real daemon on the real store, by default half an hour before any hourly firing. `before` may prepare the state as
 * an earlier process would have left it.
 */
export async function startDaemon(
  config: Config,
  {
    clock = clockAtHalfPast(),
    before,
    timer,
  }: { clock?: Clock; before?: (runtime: Runtime) => Promise<void>; timer?: Timer } = {},
): Promise<Started> {
  const runtime = await composeRuntime({ config, clock });
  await before?.(runtime);
  const heard: Event[] = [];
  runtime.events.listen((name, facts) => heard.push({ name, facts: { ...facts } }));
  const daemon = new Daemon({ runtime, config, ...(timer === undefined ? {} : { timer }) });
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= daemon.stop('the test is over').finally(() => runtime.close());
    return stopping;
  };
  onTestFinished(stop);
  await daemon.start();
  const found = (name: string, facts: Record<string, unknown>) =>
    heard.filter((event) => event.name === name && Object.entries(facts).every(([k, v]) => event.facts[k] === v));
  return {
    runtime,
    daemon,
    heard,
    count: (name, facts = {}) => found(name, facts).length,
    hear: async (name, facts = {}) => {
      await until(`the event ${name} ${JSON.stringify(facts)}`, () => found(name, facts).length > 0, {
        seen: () => JSON.stringify(heard),
      });
      return found(name, facts)[0] as Event;
    },
    stop,
  };
}

/** Stores a firing in the past, which is due at once. */
export function overdue(...jobs: readonly Job[]): (runtime: Runtime) => Promise<void> {
  return async ({ store, clock }) => {
    for (const { name, schedule } of jobs) {
      if (schedule === undefined) throw new Error(`${name} has no schedule`);
      const key = scheduleKey(schedule);
      await store.schedules.set({ job: name, schedule: key, next_at: clock.now() - 60_000 });
    }
  };
}
