import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { runJob } from '../../../src/daemon/run/run-job.ts';
import { dayOf } from '../../../src/delivery/quota.ts';
import { useDatabase } from '../../../src/state/engine/database.ts';
import { Away, hour, type Life, minute, noon, openWorld, second, usual } from './world.ts';

/** A daemon whose job fired at noon and waits for its second attempt; the source is unavailable until `until`. */
async function waiting({ until = noon + hour, more = {} }: { until?: number; more?: object } = {}) {
  const world = await openWorld(noon - minute);
  world.away.between(noon, until);
  const config = world.configWith(world.job({ cron: '0 12 * * *', ...more }));
  const life = await world.live(config, { durable: true });
  await world.pass(minute + 2 * second);
  expect(await life.runtime.store.retries.all()).toHaveLength(1);
  return { ...world, ...life, config };
}

const runsOf = ({ runtime }: Life) => runtime.store.runs.history({ limit: 9 });
const rowsOf = ({ runtime }: Life) => runtime.store.retries.all();

describe('stopping the daemon', () => {
  it('keeps the attempt in the state, and the next start continues the same run', async () => {
    const { live, pass, stop, config } = await waiting({ until: noon + 5 * minute });
    await stop();
    const next = await live(config, { durable: true });
    await pass(20 * minute);
    expect(await runsOf(next)).toMatchObject([{ state: 'delivered', fired_at: noon }]);
    expect(await rowsOf(next)).toEqual([]);
  });

  it("during an attempt doesn't count that attempt, and makes it due at the next start", async () => {
    const { live, pass, stop, config, away, clock } = await waiting({ until: noon + 20 * second });
    while (away.source.open === 0) await pass(100);
    const asked = away.asked.length;
    await stop();
    const next = await live(config, { durable: true });
    expect(next.named('run.started')).toHaveLength(1);
    await pass(10 * second);
    expect(away.asked).toHaveLength(asked + 1);
    expect(await runsOf(next)).toMatchObject([{ state: 'delivered', attempts: asked }]);
    expect(clock.now()).toBeLessThan(noon + 2 * minute);
  });

  it.each([
    ['skip', 'failed'],
    ['run_once', 'delivered'],
  ] as const)('for ten minutes, with the misfire policy %s, ends the run as %s', async (policy, state) => {
    const schedule = { cron: '0 12 * * *', timezone: 'UTC', misfire: { policy } };
    const { live, pass, stop, config } = await waiting({ until: noon + 5 * minute, more: { schedule } });
    await stop();
    await pass(10 * minute);
    const next = await live(config, { durable: true });
    await pass(hour);
    expect(await runsOf(next)).toMatchObject([{ state }]);
    expect(await rowsOf(next)).toEqual([]);
  });

  it('until after the next firing lets that firing take over', async () => {
    const { live, pass, stop, job, configWith } = await waiting({ until: noon + 5 * minute });
    await stop();
    const config = configWith(job({ cron: '0 12,13 * * *' }));
    await (await live(config, { durable: true })).stop();
    await pass(2 * hour);
    const next = await live(config, { durable: true });
    await pass(5 * minute);
    expect(await runsOf(next)).toMatchObject([
      { state: 'delivered', fired_at: noon + hour },
      { state: 'failed', fired_at: noon },
    ]);
  });
});

describe('a waiting attempt is given up', () => {
  it("if the job is put on hold, so that the attempt can't replace restored data", async () => {
    const world = await waiting({ until: noon + 5 * minute });
    await world.runtime.store.holds.set('orders', { who: 'ann', why: 'rollback' });
    expect(await rowsOf(world)).toEqual([]);
    const asked = world.away.asked.length;
    await world.pass(hour);
    expect(world.away.asked).toHaveLength(asked);
    expect(await runsOf(world)).toMatchObject([{ state: 'failed', code: 'DB_UNREACHABLE' }]);
    expect(world.named('run.finished')).toMatchObject([{ facts: { outcome: 'failed', code: 'DB_UNREACHABLE' } }]);
  });

  const changes: [string, (config: Config) => Config][] = [
    ["doesn't contain the job", (config) => ({ ...config, jobs: new Map() })],
    [
      'sets retry: off',
      (config) => {
        const { retry: _, ...once } = config.jobs.get('orders')!;
        return { ...config, jobs: new Map([['orders', once]]) };
      },
    ],
    [
      'disables the job',
      (config) => ({ ...config, jobs: new Map([['orders', { ...config.jobs.get('orders')!, enabled: false }]]) }),
    ],
  ];

  it.each(changes)('at the next start if the config %s', async (_, change) => {
    const { live, stop, pass, config } = await waiting();
    await stop();
    const next = await live(change(config), { durable: true });
    expect(await rowsOf(next)).toEqual([]);
    expect(await runsOf(next)).toMatchObject([{ state: 'failed' }]);
    await pass(hour);
    expect(next.named('run.started')).toEqual([]);
  });

  it.each(changes)('if a new config %s', async (_, change) => {
    const world = await waiting();
    await world.clock.drive(world.daemon.adopt(change(world.config)));
    expect(await rowsOf(world)).toEqual([]);
    expect(await runsOf(world)).toMatchObject([{ state: 'failed' }]);
    expect(world.named('run.finished')).toHaveLength(1);
    await world.pass(hour);
    expect(world.named('run.started')).toHaveLength(1);
  });

  it('if a user runs the job successfully', async () => {
    const world = await waiting({ until: noon + 3 * second });
    await world.pass(2 * second);
    const job = world.config.jobs.get('orders')!;
    const given = { config: world.config, job, origin: 'person', signal: new AbortController().signal } as const;
    await world.clock.drive(runJob({ runtime: world.runtime, ...given }));
    expect(await rowsOf(world)).toEqual([]);
    const asked = world.away.asked.length;
    await world.pass(hour);
    expect(world.away.asked).toHaveLength(asked);
    expect((await runsOf(world)).map(({ origin, state }) => [origin, state])).toEqual([
      ['person', expect.stringMatching(/owed|delivered/)],
      ['schedule', 'failed'],
    ]);
  });
});

it("an attempt that can't be recorded because of the disk is made once the state is writable", async () => {
  const { runtime, pass, named } = await waiting({ until: noon + 10 * second });
  const { db, close } = useDatabase(join(runtime.store.folder, 'sluice.db'));
  onTestFinished(close);
  await sql.raw('pragma query_only = 1').execute(db);
  await pass(minute);
  expect(named('firing.deferred')).toMatchObject([{ facts: { job: 'orders', code: 'STATE_UNREADABLE' } }]);
  await sql.raw('pragma query_only = 0').execute(db);
  await pass(minute);
  expect(await runtime.store.runs.history({ limit: 9 })).toMatchObject([{ state: 'delivered', attempts: 2 }]);
  expect(named('run.finished')).toHaveLength(1);
});

it('an attempt waits while another process runs the same job', async () => {
  const world = await waiting({ until: noon + 20 * second });
  const lease = await world.runtime.store.leases.take('job:orders');
  await world.pass(2 * minute);
  expect(world.away.asked).toHaveLength(1);
  expect((await rowsOf(world))[0]!.next_at).toBeGreaterThan(world.clock.now());
  await lease!.release();
  await world.pass(minute);
  expect(await runsOf(world)).toMatchObject([{ state: 'delivered', fired_at: noon }]);
  expect(world.away.asked).toHaveLength(2);
});

describe('a reload', () => {
  it('makes the attempt due immediately, but only once, if it changes what the job reads', async () => {
    const { daemon, config, clock, away, pass, runtime } = await waiting();
    const job = config.jobs.get('orders')!;
    const changed = { ...job, extract: { ...job.extract!, stallTimeoutMs: 1_000_000 } };
    const asked = away.asked.length;
    await clock.drive(daemon.adopt({ ...config, jobs: new Map([['orders', changed]]) }));
    await pass(2 * second);
    expect(away.asked).toHaveLength(asked + 1);
    const [row] = await runtime.store.retries.all();
    expect(row).toMatchObject({ attempt: 2 });
    expect(row!.next_at).toBeGreaterThan(clock.now() + 20 * second);
  });

  it("leaves the attempt waiting if it doesn't change the job", async () => {
    const { daemon, config, clock, away, pass, runtime } = await waiting();
    const before = await runtime.store.retries.all();
    await clock.drive(daemon.adopt({ ...config }));
    await pass(2 * second);
    expect(away.asked).toHaveLength(1);
    expect(await runtime.store.retries.all()).toEqual(before);
  });
});

describe('missed runs', () => {
  /** A job that must make up for its runs since nine o'clock when a daemon starts at noon. */
  async function missed(cron: string) {
    const world = await openWorld(noon - minute);
    const { job, configWith, live, pass } = world;
    const timezone = 'UTC';
    const schedule = { cron, timezone, misfire: { policy: 'run_all', withinMs: 24 * hour } } as const;
    const config = (more: object = {}) => configWith(job({ schedule, ...more }));
    const before = await live(config(), { durable: true });
    const { schedules } = before.runtime.store;
    await schedules.set({ job: 'orders', schedule: `${timezone} ${cron}`, next_at: noon - 3 * hour });
    await before.stop();
    await pass(minute);
    return { ...world, config, start: () => live(config(), { durable: true }) };
  }

  it('keep their dates in all attempts, and the next missed run waits until the attempts are over', async () => {
    const { away, start, pass } = await missed('0 9,10,11 * * *');
    away.between(noon, noon + 3 * minute);
    const next = await start();
    await pass(20 * minute);
    const runs = (await runsOf(next)).reverse();
    expect(runs.map(({ fired_at, state }) => [fired_at, state])).toEqual([
      [noon - 3 * hour, 'delivered'],
      [noon - 2 * hour, 'delivered'],
      [noon - hour, 'delivered'],
    ]);
    expect(runs[0]!.attempts).toBeGreaterThan(1);
    expect(away.source.stoodFor.slice(0, runs[0]!.attempts)).toEqual(Array(runs[0]!.attempts).fill(noon - 3 * hour));
  });

  it('continue if a reload ends the retries of the run that they wait for', async () => {
    const { away, start, pass, config, clock } = await missed('0 9,10,11 * * *');
    away.between(noon, noon + 2 * second);
    const next = await start();
    await pass(2 * second);
    expect(await rowsOf(next)).toMatchObject([{ fired_at: noon - 3 * hour }]);
    await clock.drive(next.daemon.adopt(config({ retry: undefined })));
    await pass(10 * second);
    const runs = (await runsOf(next)).reverse();
    expect(runs.map(({ state }) => state)).toEqual(['failed', 'delivered', 'delivered']);
  });

  it("aren't delayed by an attempt that fails after the job's next regular firing", async () => {
    const { away, start, pass } = await missed('0 * * * *');
    away.takesMs = hour + minute;
    away.between(noon, noon + away.takesMs + 1);
    const next = await start();
    await pass(hour);
    away.takesMs = second;
    await pass(9 * minute);
    const runs = (await runsOf(next)).reverse();
    expect(runs.map(({ fired_at, state, attempts }) => [(fired_at! - noon) / hour, state, attempts])).toEqual([
      [-3, 'failed', 1],
      [-2, 'delivered', 1],
      [-1, 'delivered', 1],
      [0, 'delivered', 1],
      [1, 'delivered', 1],
    ]);
  });
});

it('an attempt continues past a firing that exceeds the daily allowance', async () => {
  const { clock, away, destination, job, configWith, live, pass } = await openWorld(noon - 21 * minute);
  away.between(noon, noon + 30 * minute);
  const other = new Away(clock, 'other');
  const short = { ...destination, requestsPerDay: 100, whenShort: 'throttle' } as const;
  const retry = { ...usual, longestMs: 2 * minute };
  const orders = job({ cron: '*/20 * * * *', destination: short, retry });
  const life = await live(
    configWith(orders, job({ ...{ name: 'b', n: 1, cron: '16 * * * *' }, destination: short, away: other })),
  );
  await pass(23 * minute);
  const { quota } = life.runtime.store;
  for (let i = 0; i < 100; i++) await quota.charge(short.account, dayOf(clock.now()));
  await pass(33 * minute);
  expect(life.named('firing.throttled')).toMatchObject([{ facts: { job: 'orders', at: noon + 20 * minute } }]);
  expect((await runsOf(life)).filter((run) => run.job === 'orders')).toMatchObject([
    { state: 'owed', fired_at: noon },
    { state: 'delivered', fired_at: noon - 20 * minute },
  ]);
});

it('a job with `always` sends its rows once per firing, not once per attempt', async () => {
  const world = await waiting({ until: noon + 10 * minute, more: { always: true, retry: usual } });
  await world.pass(2 * hour);
  expect(world.named('payload.owed')).toHaveLength(1);
  expect(world.named('payload.delivered')).toHaveLength(1);
});
