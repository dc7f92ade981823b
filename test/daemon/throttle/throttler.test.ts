import { afterEach, describe, expect, it } from 'vitest';
import type { Config, Destination, Job } from '../../../src/config/config.ts';
import type { SluiceEvents } from '../../../src/daemon/events.ts';
import { explainJob } from '../../../src/daemon/explain/explain.ts';
import { reportStatus } from '../../../src/daemon/report/report-status.ts';
import { Throttler } from '../../../src/daemon/throttle/throttler.ts';
import { dayOf, daysOf, untilMidnight } from '../../../src/delivery/quota.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { Store } from '../../../src/state/store.ts';
import { SteppingClock } from '../../clocks.ts';
import { makeFolder } from '../../journey/process.ts';
import { cleanUp, newFolder, newStore } from '../../state/fixtures.ts';
import { configOf, destinationOf, jobOf, openService, overdue, Source, startDaemon } from '../rig.ts';

afterEach(cleanUp);

const minute = 60_000;
const day = 24 * 60 * minute;
/** The start of an Eastern day. */
const midnight = Date.parse('2026-06-15T04:00Z');

function made(job: string, cron: string, more: Partial<Job> & { destination: Destination }): Job {
  return jobOf({ name: job, instance: job, source: new Source(), cron, ...more });
}

interface World {
  readonly config: Config;
  readonly store: Store;
  readonly clock: SteppingClock;
  readonly events: { name: string; facts: Record<string, unknown> }[];
  readonly throttler: Throttler;
}

async function worldOf(jobs: readonly Job[], { clock = new SteppingClock(midnight), folder = newFolder() } = {}) {
  const store = await newStore({ clock, folder });
  const events: { name: string; facts: Record<string, unknown> }[] = [];
  const emit = (name: keyof SluiceEvents, facts: object) => void events.push({ name, facts: { ...facts } });
  const throttler = new Throttler({ store, clock, emit });
  return { config: configOf('/nowhere', jobs), store, clock, events, throttler } satisfies World;
}

/**
 * Runs an Eastern day minute by minute. Returns which job ran when. A run costs what `sends` returns, counted at its
 * start.
 */
async function live({ config, store, clock, throttler }: World, sends: (job: string, at: number) => number = () => 1) {
  const ran = new Map([...config.jobs.keys()].map((job) => [job, [] as number[]]));
  const end = clock.now() + untilMidnight(clock.now());
  const crons = [...config.jobs.values()].map((job) => ({
    job,
    every: Number(/\/(\d+)/.exec(cronOf(job))?.[1] ?? 60),
  }));
  for (clock.advance(minute); clock.now() < end; clock.advance(minute)) {
    for (const { job, every } of crons) {
      if ((clock.now() / minute) % every !== 0) continue;
      if ((await throttler.judge(job, clock.now(), config)) !== undefined) continue;
      ran.get(job.name)!.push(clock.now());
      await runOf(job, sends(job.name, clock.now()), { store, clock });
    }
  }
  return ran;
}

async function runOf({ name, destination }: Job, requests: number, { store, clock }: { store: Store; clock: Clock }) {
  await store.transaction(async ({ runs, quota }) => {
    const run = await runs.begin({ job: name, origin: 'schedule' });
    for (let i = 0; i < requests; i++) {
      await runs.countRequest(run);
      for (const one of daysOf(clock.now())) await quota.charge(destination.account, one);
    }
    await runs.finish(run, { state: requests === 0 ? 'unchanged' : 'delivered' });
  });
}

const cronOf = ({ schedule }: Job): string => (schedule !== undefined && 'cron' in schedule ? schedule.cron : '');
const gapsOf = (at: readonly number[]) => at.slice(1).map((one, i) => (one - at[i]!) / minute);

describe('a day with more scheduled firings than requests', () => {
  it('throttles only the least important job, spreads its runs evenly, and stays within the allowance', async () => {
    const destination = destinationOf('http://127.0.0.1:9', { requestsPerDay: 120, whenShort: 'throttle' });
    const jobs = [
      made('vip', '*/30 * * * *', { destination, priority: 'high' }),
      made('usual', '0 * * * *', { destination }),
      made('later', '*/10 * * * *', { destination, priority: 'low' }),
    ];
    const world = await worldOf(jobs);
    const ran = await live(world);
    expect(ran.get('vip')).toHaveLength(47);
    expect(ran.get('usual')).toHaveLength(23);
    expect(ran.get('later')!.length).toBeGreaterThanOrEqual(40);
    const gaps = gapsOf(ran.get('later')!);
    expect(gaps.slice(0, 40)).toEqual(Array(40).fill(30));
    const { used } = await world.store.quota.use('account', dayOf(midnight));
    expect(used).toBeLessThanOrEqual(120);
    expect(used, 'what is left over at the end is used').toBeGreaterThanOrEqual(118);
    const said = world.events.filter(({ name }) => name === 'job.throttled');
    expect(said[0]).toMatchObject({ facts: { job: 'later', every: 3, until: midnight + day } });
    expect(said[0]!.facts.message).toBe(
      'runs every 30m instead of 10m until 00:00 EDT: the daily allowance is not enough for more',
    );
    expect(await world.store.throttledJobs.now()).toEqual([]);
    const history = await world.store.throttledJobs.history({ limit: 9 });
    expect(history.at(-1)).toMatchObject({ job: 'later', every: 3, since: midnight + 10 * minute });
  });

  it('is recalculated continuously, so that a job that finds nothing new is no longer throttled', async () => {
    const destination = destinationOf('http://127.0.0.1:9', { requestsPerDay: 60, whenShort: 'throttle' });
    const jobs = [made('quiet', '*/10 * * * *', { destination, priority: 'low' })];
    const world = await worldOf(jobs);
    const ran = await live(world, (_, at) => (at < midnight + 90 * minute ? 1 : 0));
    const names = world.events.map(({ name }) => name);
    expect(names[0]).toBe('job.throttled');
    expect(names).toContain('job.unthrottled');
    expect(gapsOf(ran.get('quiet')!).at(-1)).toBe(10);
    expect(names.indexOf('job.unthrottled')).toBeGreaterThan(0);
  });

  it("reports once how many requests are missing if even throttling isn't enough", async () => {
    const destination = destinationOf('http://127.0.0.1:9', { requestsPerDay: 10, whenShort: 'throttle' });
    const jobs = [
      made('vip', '0 * * * *', { destination, priority: 'high' }),
      made('later', '0 * * * *', { destination, priority: 'low' }),
    ];
    const world = await worldOf(jobs);
    const ran = await live(world);
    expect(ran.get('vip'), 'never throttled').toHaveLength(23);
    expect(ran.get('later'), 'has its one run a day').toHaveLength(1);
    const short = world.events.filter(({ name }) => name === 'quota.short');
    expect(short).toMatchObject([{ facts: { destination: 'main', until: midnight + day } }]);
    expect(short[0]!.facts.requests).toBe(14);
  });

  it("isn't throttled with first_come", async () => {
    const destination = destinationOf('http://127.0.0.1:9', { requestsPerDay: 10, whenShort: 'first_come' });
    const world = await worldOf([made('later', '0 * * * *', { destination, priority: 'low' })]);
    expect((await live(world)).get('later')).toHaveLength(23);
    expect(world.events).toEqual([]);
  });

  it("doesn't throttle a job that needs a run for each firing", async () => {
    const destination = destinationOf('http://127.0.0.1:9', { requestsPerDay: 10, whenShort: 'throttle' });
    const schedule = { cron: '0 * * * *', timezone: 'UTC', misfire: { policy: 'run_all' as const } };
    const world = await worldOf([made('each', '', { destination, priority: 'low', schedule })]);
    expect((await live(world)).get('each')).toHaveLength(23);
  });

  it("accounts for other programs' requests and the reserve for users", async () => {
    const destination = destinationOf('http://127.0.0.1:9', {
      requestsPerDay: 100,
      reserveRequests: 60,
      whenShort: 'throttle',
    });
    const world = await worldOf([made('later', '*/30 * * * *', { destination, priority: 'low' })]);
    await world.store.quota.reconcile('account', dayOf(midnight), { reported: 20, allowance: undefined });
    expect((await live(world)).get('later')!.length).toBeLessThanOrEqual(20);
  });
});

describe('a throttle', () => {
  const destination = destinationOf('http://127.0.0.1:9', { requestsPerDay: 60, whenShort: 'throttle' });
  const jobs = [made('later', '*/10 * * * *', { destination, priority: 'low' })];

  it('persists across a restart without being logged again, and is recalculated the next day', async () => {
    const folder = newFolder();
    const first = await worldOf(jobs, { folder });
    first.clock.advance(10 * minute);
    expect(await first.throttler.judge(jobs[0]!, first.clock.now(), first.config), 'it has never run').toBeUndefined();
    await runOf(jobs[0]!, 1, first);
    const again = await worldOf(jobs, { folder, clock: first.clock });
    again.clock.advance(10 * minute);
    expect(await again.throttler.judge(jobs[0]!, again.clock.now(), again.config)).toMatch(/^runs every 30m/);
    expect(again.events).toEqual([]);
    again.clock.advance(day);
    expect(await again.throttler.judge(jobs[0]!, again.clock.now(), again.config)).toBeUndefined();
    expect(again.events).toMatchObject([{ name: 'job.throttled' }]);
  });

  it('is shown by status and explain, with the next firing that will run', async () => {
    const { clock, config, store, throttler } = await worldOf(jobs);
    clock.advance(10 * minute);
    await runOf(jobs[0]!, 1, { store, clock });
    clock.advance(10 * minute);
    const message = await throttler.judge(jobs[0]!, clock.now(), config);
    const status = await reportStatus(config, store, clock);
    expect(status.jobs[0]).toMatchObject({
      throttled: { every: 3, message, since: clock.now(), until: midnight + day },
      next_run_at: midnight + 40 * minute,
    });
    const { verdict, because, fix } = await explainJob(jobs[0]!, { config, store, clock });
    expect(verdict).toBe('runs less often than scheduled');
    expect(because[0]).toEqual({ at: clock.now(), message: `the job ${message}` });
    expect(fix).toContain('sluice plan');
    clock.advance(day);
    expect((await reportStatus(config, store, clock)).jobs[0]?.throttled).toBeUndefined();
  });

  it('is recalculated for a new config', async () => {
    const { clock, config, events, throttler } = await worldOf(jobs);
    clock.advance(10 * minute);
    await throttler.judge(jobs[0]!, clock.now(), config);
    const roomy = destinationOf('http://127.0.0.1:9', { requestsPerDay: 6000, whenShort: 'throttle' });
    const edited = made('later', '*/10 * * * *', { destination: roomy, priority: 'low' });
    expect(await throttler.judge(edited, clock.now(), configOf('/nowhere', [edited]))).toBeUndefined();
    expect(events.map(({ name }) => name)).toEqual(['job.throttled', 'job.unthrottled']);
  });

  it('lets a job run at its next firing after a run that failed without sending a request', async () => {
    const world = await worldOf(jobs);
    const { clock, config, store, throttler } = world;
    clock.advance(10 * minute);
    await runOf(jobs[0]!, 1, world);
    clock.advance(10 * minute);
    expect(await throttler.judge(jobs[0]!, clock.now(), config)).toMatch(/^runs every 30m/);
    clock.advance(20 * minute);
    await store.runs.finish(await store.runs.begin({ job: 'later', origin: 'schedule' }), { state: 'failed' });
    expect((await reportStatus(config, store, clock)).jobs[0]?.next_run_at).toBe(clock.now() + 10 * minute);
    clock.advance(10 * minute);
    expect(await throttler.judge(jobs[0]!, clock.now(), config)).toBeUndefined();
    await runOf(jobs[0]!, 1, world);
    clock.advance(10 * minute);
    expect(await throttler.judge(jobs[0]!, clock.now(), config)).toMatch(/^runs every 30m/);
  });

  it('lets a job have its only run of the day even if an earlier run failed without sending a request', async () => {
    const scarce = destinationOf('http://127.0.0.1:9', { requestsPerDay: 1, whenShort: 'throttle' });
    const job = made('later', '0 * * * *', { destination: scarce, priority: 'low' });
    const { clock, config, store, throttler } = await worldOf([job]);
    clock.advance(60 * minute);
    await store.runs.finish(await store.runs.begin({ job: 'later', origin: 'schedule' }), { state: 'failed' });
    clock.advance(60 * minute);
    expect(await throttler.judge(job, clock.now(), config)).toBeUndefined();
    await runOf(job, 1, { store, clock });
    clock.advance(60 * minute);
    expect(await throttler.judge(job, clock.now(), config)).toMatch(/until 00:00/);
  });

  it('lets a job run even if its last run seems to be in the future because the clock was set back', async () => {
    const { clock, config, store, throttler } = await worldOf(jobs);
    clock.advance(600 * minute);
    await runOf(jobs[0]!, 1, { store, clock });
    clock.wall -= 300 * minute;
    expect(await throttler.judge(jobs[0]!, clock.now(), config)).toBeUndefined();
  });
});

it('the daemon skips and reports a firing that exceeds the daily allowance, and continues with the schedule', async () => {
  const service = await openService();
  const destination = destinationOf(service.url, { requestsPerDay: 1, whenShort: 'throttle' });
  const source = new Source();
  const job = jobOf({ name: 'later', destination, instance: 'i', source, cron: '* * * * *', priority: 'low' });
  const config = configOf(await makeFolder(), [job]);
  const { hear, runtime } = await startDaemon(config, {
    before: async (runtime) => {
      await runOf(job, 1, { store: runtime.store, clock: runtime.clock });
      await overdue(job)(runtime);
    },
  });
  const { facts } = await hear('firing.throttled', { job: 'later' });
  expect(facts.reason).toMatch(/^rests until 00:00 E[SD]T/);
  expect(source.asked).toBe(0);
  const planned = await runtime.store.schedules.find('later');
  expect(planned!.next_at).toBeGreaterThan(runtime.clock.now() - minute);
  expect(await runtime.store.runs.history({ limit: 9 })).toHaveLength(1);
});
