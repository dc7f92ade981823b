import { expect, it, onTestFinished } from 'vitest';
import { simulatedNetwork } from '../../../src/cli/simulate/network.ts';
import type { Config, Job } from '../../../src/config/config.ts';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { syncJobs } from '../../../src/daemon/run/sync-jobs.ts';
import { defineConnector } from '../../../src/sdk/connector.ts';
import { option, withDefaults } from '../../../src/sdk/option.ts';
import { caseOf } from '../../connectors/doubles/acme.ts';
import { type Asked, type Fault, Vendor } from '../../connectors/doubles/vendor.ts';
import { standing } from './real.ts';
import { hour, type Life, minute, noon, openWorld, second } from './world.ts';

const poll = 'GET /v1/reports/{id}';
const secretId = 'r-secret-address-of-a-report';

/** A job that reads a vendor's report at noon; its first polls are refused. */
async function reportWorld({ refused = 3 }: { refused?: number } = {}) {
  const world = await openWorld(noon - minute);
  const { clock } = world;
  let made = 0;
  const routes = {
    'POST /v1/reports': () => ({ json: { id: `${secretId}-${++made}` } }),
    [poll]: { json: { state: 'Done' } },
    'GET /v1/files/{id}': ({ part }: Asked) => ({ text: `id\n${part.id?.split('-').at(-1)}\n` }),
  };
  const faults: Fault[] = [{ at: 1, times: refused, to: poll, reply: { status: 503 } }];
  const vendor = await new Vendor({ routes, faults }).start();
  onTestFinished(() => vendor.stop());
  const { service } = caseOf(
    {
      job: {
        create: { path: '/reports', json: { until: '{{ now | iso }}' } },
        keep: { id: 'id' },
        poll: { path: '/reports/{{ job.id }}' },
        state: 'state',
        done: ['Done'],
        failed: [],
        every: '0s',
      },
      request: { path: '/files/{{ job.id }}' },
      decode: 'csv',
      columns: { id: 'text' },
    },
    {
      routes,
      service: {
        login: { kind: 'key', headers: { 'x-key': '{{ key }}' } },
        options: { key: option.text({ about: 'The key.', secret: true }) },
      },
    },
  );
  const reader = standing(service, clock);
  const connector = defineConnector({
    ...reader,
    extract: async (context) => {
      await clock.sleep(second, context.signal);
      return reader.extract(context);
    },
  });
  const reading = (source: object = {}): Job => {
    const made = world.job({ cron: '0 12 * * *' });
    const options = withDefaults(service.source, { api_url: vendor.url, retries: 0, key: 'k1', ...source });
    const extract = {
      ...made.extract!,
      source: { ...made.extract!.source, connector, options },
      query: withDefaults(service.query, { stream: 'things' }),
    };
    return { ...made, extract };
  };
  const count = (line: string) => vendor.lines.filter((one) => one.startsWith(line)).length;
  const counts = () => ({ created: count('POST /v1/reports'), polled: count('GET /v1/reports/') });
  return { ...world, reading, counts, vendor };
}

const rowsOf = ({ runtime }: Pick<Life, 'runtime'>) => runtime.store.retries.all();
const configWith = (config: Config, job: Job): Config => ({ ...config, jobs: new Map([[job.name, job]]) });

/** The same with a daemon whose first attempt has failed. */
async function waiting(given: { refused?: number } = {}) {
  const world = await reportWorld(given);
  const config = world.configWith(world.reading());
  const life = await world.live(config, { durable: true });
  await world.pass(minute + 2 * second);
  expect(await rowsOf(life)).toMatchObject([{ attempt: 1, facts: expect.any(String) }]);
  expect(world.counts()).toEqual({ created: 1, polled: 1 });
  return { ...world, ...life, config };
}

it("all of a run's attempts poll the same report, and its ID is deleted if the run succeeds", async () => {
  const { pass, counts, runtime } = await waiting();
  await pass(hour);
  expect(await runtime.store.runs.history({ limit: 9 })).toMatchObject([{ state: 'delivered', attempts: 4 }]);
  expect(counts()).toEqual({ created: 1, polled: 4 });
  expect(await rowsOf({ runtime })).toEqual([]);
  // The report's data is as old as the first attempt.
  const [receipt] = await runtime.store.receipts.all();
  expect(receipt?.as_of).toBeLessThan(noon + second);
});

it('the next run requests its own report', async () => {
  const { pass, counts, runtime } = await waiting({ refused: 1 });
  await pass(25 * hour);
  expect(await runtime.store.runs.history({ limit: 9 })).toMatchObject([
    { state: 'delivered' },
    { state: 'delivered' },
  ]);
  expect(counts().created).toBe(2);
});

it('a restart of the daemon keeps the report, whose ID is stored encrypted', async () => {
  const { stop, live, pass, counts, config, runtime } = await waiting();
  expect((await rowsOf({ runtime }))[0]?.facts).not.toContain(secretId);
  await stop();
  const next = await live(config, { durable: true });
  await pass(hour);
  expect(await next.runtime.store.runs.history({ limit: 9 })).toMatchObject([{ state: 'delivered' }]);
  expect(counts().created).toBe(1);
});

it('a restart with another encryption key requests another report', async () => {
  const { stop, live, pass, counts, config, reading } = await waiting();
  await stop();
  const next = await live(configWith(config, reading({ key: 'k2' })), { durable: true });
  await pass(hour);
  expect(await next.runtime.store.runs.history({ limit: 9 })).toMatchObject([{ state: 'delivered' }]);
  expect(counts().created).toBe(2);
});

it('a reload that changes the job requests another report, but any other reload keeps the report', async () => {
  const { daemon, clock, pass, counts, config, runtime } = await waiting({ refused: 2 });
  await clock.drive(daemon.adopt({ ...config }));
  expect(await rowsOf({ runtime })).toMatchObject([{ facts: expect.any(String) }]);
  const job = config.jobs.get('orders')!;
  const changed = { ...job, extract: { ...job.extract!, stallTimeoutMs: 1_000_000 } };
  await clock.drive(daemon.adopt(configWith(config, changed)));
  expect(await rowsOf({ runtime }), 'a start after a crash orders another one, too').toMatchObject([{ facts: null }]);
  await pass(hour);
  expect(await runtime.store.runs.history({ limit: 9 })).toMatchObject([{ state: 'delivered' }]);
  expect(counts().created).toBe(2);
});

it.each([
  ['a hold', ({ runtime }: Life) => runtime.store.holds.set('orders', { who: 'ann', why: 'a look at the data' })],
  ['a config without the job', ({ daemon }: Life, config: Config) => daemon.adopt({ ...config, jobs: new Map() })],
])('%s deletes the data that the attempts share', async (_, act) => {
  const world = await waiting();
  await world.clock.drive(Promise.resolve(act(world, world.config)));
  expect(await rowsOf(world)).toEqual([]);
  await world.pass(hour);
  expect(world.counts()).toEqual({ created: 1, polled: 1 });
});

it('a sync polls the same report in all of its attempts', async () => {
  const { clock, configWith: configOf, reading, counts } = await reportWorld();
  const job = reading();
  const config = configOf(job);
  const runtime = await composeRuntime({
    config,
    clock,
    network: simulatedNetwork({ clock, seed: 0 }),
    durable: false,
  });
  onTestFinished(() => runtime.close());
  const { signal } = new AbortController();
  const outcomes = await clock.drive(syncJobs({ runtime, config, jobs: [job], signal, patienceMs: 10 * minute }));
  expect(outcomes).toMatchObject([{ state: 'delivered' }]);
  expect(counts()).toEqual({ created: 1, polled: 4 });
  expect(await rowsOf({ runtime })).toEqual([]);
});

it('a stop during an attempt keeps the report for the next start', async () => {
  const { stop, live, pass, clock, runtime, counts, config, named } = await waiting();
  const [row] = await rowsOf({ runtime });
  await clock.drive(clock.sleep(row!.next_at + second / 2 - clock.now()));
  expect(named('run.started')).toHaveLength(2);
  expect(named('run.retrying')).toHaveLength(1);
  await stop();
  const next = await live(config, { durable: true });
  await pass(hour);
  expect(await next.runtime.store.runs.history({ limit: 9 })).toMatchObject([{ state: 'delivered' }]);
  expect(counts().created).toBe(1);
});
