import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import type { Runtime } from '../../../src/daemon/compose.ts';
import { explainJob } from '../../../src/daemon/explain/explain.ts';
import { type Schedule, scheduleKey } from '../../../src/schedule/schedule.ts';
import { until } from '../../journey/process.ts';
import { clockAtHalfPast, configOf, destinationOf, gate, jobOf, overdue, Source, setUp, startDaemon } from '../rig.ts';

const minute = 60_000;
const hour = 60 * minute;
const hourly: Schedule = { every: hour, from: 0, timezone: 'UTC' };

/** The usual setup with another schedule. */
const setUpWith = (schedule: Schedule) => setUp({ schedule });

/** The state left by a daemon with these next firings. */
const dueAt =
  (...due: readonly (readonly [Job, number])[]) =>
  async ({ store }: Runtime): Promise<void> => {
    for (const [{ name, schedule }, at] of due) {
      await store.schedules.set({ job: name, schedule: scheduleKey(schedule!), next_at: at });
    }
  };

/** A clock, and the start of its hour. */
function halfPast() {
  const clock = clockAtHalfPast();
  const begun = Math.floor(clock.now() / hour) * hour;
  return { clock, begun };
}

describe('a firing during a run of the same job', () => {
  it('waits with buffer_one until that run ends, while a further firing is skipped', async () => {
    const { config, job, source } = await setUpWith({ ...hourly, overlap: 'buffer_one' });
    const slow = gate();
    source.says = slow.says;
    const clock = clockAtHalfPast();
    const { hear, count, daemon, runtime } = await startDaemon(config, { clock, before: overdue(job) });
    await until('the first extract to start', () => source.asked === 1);
    clock.wall += hour;
    await daemon.adopt(config);
    await hear('firing.waiting', { job: 'orders' });
    clock.wall += hour;
    await daemon.adopt(config);
    await hear('firing.skipped', { job: 'orders', reason: 'a firing of this job is already waiting' });
    expect(source.asked).toBe(1);
    slow.open('late');
    await until('the second run to finish', () => count('run.finished') === 2);
    expect([source.asked, source.most]).toEqual([2, 1]);
    const next = await runtime.store.schedules.find('orders');
    expect(next?.next_at).toBeGreaterThan(clock.now());
    expect(await runtime.store.skips.history({ limit: 9 })).toMatchObject([{ job: 'orders', firings: 1 }]);
  });

  it('replaces that run with cancel_other, but owed payloads stay owed', async () => {
    const { folder, source, job } = await setUpWith({ ...hourly, overlap: 'cancel_other' });
    const gone = { ...job, destination: destinationOf('http://127.0.0.1:1/api/1.0') };
    const config = configOf(folder, [gone]);
    const clock = clockAtHalfPast();
    const { hear, count, daemon, runtime } = await startDaemon(config, { clock, before: overdue(gone) });
    await hear('payload.waiting', { job: 'orders' });
    source.says = gate().says;
    clock.wall += hour;
    await daemon.adopt(config);
    await until('the second extract to start', () => source.asked === 2);
    const slow = gate();
    source.says = slow.says;
    clock.wall += hour;
    await daemon.adopt(config);
    await until('the third extract to start', () => source.asked === 3);
    expect((await hear('run.finished', { outcome: 'stopped' })).facts).toMatchObject({ code: 'RUN_CANCELLED' });
    const [, cancelled] = await runtime.store.runs.history({ limit: 2 });
    expect(cancelled).toMatchObject({ state: 'interrupted', code: 'RUN_CANCELLED' });
    expect(await runtime.store.outbox.inState('owed')).toHaveLength(1);
    expect(source.most).toBe(1);
    slow.open('newest');
    await until('the payload to be superseded', () => count('payload.superseded') === 1);
  });
});

it("a firing that exceeds the daily allowance doesn't cancel the current run", async () => {
  const { folder, source, job, config } = await setUpWith({ ...hourly, overlap: 'cancel_other' });
  const clock = clockAtHalfPast();
  // Start at noon in UTC, because late in the Eastern day the single request would be enough for the remaining firings.
  clock.wall += 36 * hour - (clock.now() % (24 * hour));
  const slow = gate();
  source.says = slow.says;
  const { hear, count, daemon } = await startDaemon(config, { clock, before: overdue(job) });
  await until('the first extract to start', () => source.asked === 1);
  const destination = { ...job.destination, requestsPerDay: 1, whenShort: 'throttle' as const };
  clock.wall += hour;
  await daemon.adopt(configOf(folder, [{ ...job, destination, priority: 'low' }]));
  await hear('firing.throttled', { job: 'orders' });
  expect(count('run.finished')).toBe(0);
  slow.open('whole');
  expect((await hear('run.finished', { job: 'orders' })).facts).not.toMatchObject({ code: 'RUN_CANCELLED' });
});

it('a queued firing is kept if the next one exceeds the daily allowance', async () => {
  const { folder, source, job, destination, service } = await setUpWith(hourly);
  const [busy, slow] = [new Source(), gate()];
  busy.says = slow.says;
  const blocker = { name: 'first', destination, instance: await service.instance(), source: busy, schedule: hourly };
  const { clock, begun } = halfPast();
  // Noon in UTC, as above.
  clock.wall += 36 * hour - (begun % (24 * hour));
  const config = { ...configOf(folder, [jobOf(blocker), job]), concurrency: 1 };
  const { hear, daemon, runtime } = await startDaemon(config, { clock, before: overdue(job) });
  await hear('payload.delivered', { job: 'orders' });
  clock.wall += hour;
  await daemon.adopt(config);
  await until('the first job to run', () => busy.asked === 1);
  const queued = await runtime.store.schedules.find('orders');
  clock.wall += hour;
  const scarce = { ...destination, requestsPerDay: 1, whenShort: 'throttle' as const };
  const throttled: Job = { ...job, destination: scarce, priority: 'low' };
  await daemon.adopt({ ...configOf(folder, [jobOf(blocker), throttled]), concurrency: 1 });
  await hear('firing.throttled', { job: 'orders' });
  expect(source.asked).toBe(1);
  expect(await runtime.store.schedules.find('orders')).toEqual(queued);
  expect(queued!.next_at).toBeLessThan(clock.now());
});

describe('missed firings', () => {
  it('run one after the other with run_all, each for its original time', async () => {
    const { job, config, source } = await setUpWith({
      ...hourly,
      misfire: { policy: 'run_all', withinMs: 24 * hour, atMost: 24 },
    });
    const { clock, begun } = halfPast();
    const missed = [begun - 2 * hour, begun - hour, begun];
    const { count, runtime } = await startDaemon(config, { clock, before: dueAt([job, missed[0]!]) });
    await until('three finished runs', () => count('run.finished') === 3);
    expect(source.stoodFor.slice(0, 3)).toEqual(missed);
    expect(source.most).toBe(1);
    expect((await runtime.store.schedules.find('orders'))?.next_at).toBe(begun + hour);
  });

  it('with run_all are checked by guards as of their original time, not the current one', async () => {
    const { folder, job, source } = await setUpWith({
      ...hourly,
      misfire: { policy: 'run_all', withinMs: 24 * hour, atMost: 24 },
    });
    const guarded = { ...job, guards: { newest: { column: 'value', withinMs: 2 * hour } } };
    source.says = async () => new Date(source.stoodFor.at(-1)! - hour).toISOString();
    const { clock, begun } = halfPast();
    const { count } = await startDaemon(configOf(folder, [guarded]), {
      clock,
      before: dueAt([guarded, begun - 9 * hour]),
    });
    await until('ten finished runs', () => count('run.finished') === 10);
    expect(count('payload.quarantined')).toBe(0);
  });

  it('with run_all continue after a restart', async () => {
    const { folder, job, config, source } = await setUpWith({
      ...hourly,
      misfire: { policy: 'run_all', withinMs: 24 * hour, atMost: 24 },
    });
    const { clock, begun } = halfPast();
    const missed = [begun - 2 * hour, begun - hour, begun];
    source.says = gate().says;
    const first = await startDaemon(config, { clock, before: dueAt([job, missed[0]!]) });
    await until('the first run to start', () => source.asked === 1);
    await first.stop();
    const again = new Source();
    const same = {
      ...job,
      extract: { ...job.extract!, source: { ...job.extract!.source, connector: again.connector } },
    };
    const second = await startDaemon(configOf(folder, [same]), { clock });
    await until('three finished runs', () => second.count('run.finished') === 3);
    expect(again.stoodFor.slice(0, 3)).toEqual(missed);
  });

  it('are skipped, and recorded as skipped, with the skip policy', async () => {
    const { job, config, source } = await setUpWith({ ...hourly, from: 30 * minute, misfire: { policy: 'skip' } });
    const { clock, begun } = halfPast();
    const first = begun - 10 * hour - 30 * minute;
    clock.wall += 20 * minute;
    const { hear, runtime } = await startDaemon(config, { clock, before: dueAt([job, first]) });
    const { facts } = await hear('firing.skipped', { job: 'orders', at: first });
    expect(facts.reason).toContain('the misfire policy skips missed firings');
    const noted = async () => (await runtime.store.skips.history({ job: 'orders', limit: 1 }))[0];
    let note = await noted();
    while (note === undefined) note = await noted();
    expect(note).toMatchObject({ first_at: first, last_at: begun + 30 * minute, firings: 12 });
    expect(facts.firings).toBe(12);
    const { because } = await explainJob(job, { config, store: runtime.store, clock });
    expect(because[0]).toMatchObject({
      at: first,
      message: expect.stringMatching(/^12 scheduled runs since then were skipped: /),
    });
    expect(source.asked).toBe(0);
  });
});

describe('a run whose process died', () => {
  /** The state left by a process that died in this many of the job's runs in a row. */
  const dead =
    (job: Job, { runs, nextAt, firedAt }: { runs: number; nextAt: number; firedAt?: number }) =>
    async (runtime: Runtime): Promise<void> => {
      await dueAt([job, nextAt])(runtime);
      const problem = { code: 'RUN_INTERRUPTED', message: 'The process ended during the run' };
      for (let run = 0; run < runs; run++) {
        const fired = firedAt === undefined ? {} : { firedAt };
        const id = await runtime.store.runs.begin({ job: job.name, origin: 'schedule', ...fired });
        await runtime.store.runs.finish(id, { state: 'interrupted', problem });
      }
    };

  it.for([
    ['run_once', undefined],
    ['run_all', 0],
  ] as const)('runs again at the next start, for the same time, with %s', async ([policy, standsFor]) => {
    const misfire = policy === 'run_all' ? { policy, withinMs: 24 * hour, atMost: 24 } : { policy };
    const { job, config, source } = await setUpWith({ ...hourly, misfire });
    const { clock, begun } = halfPast();
    const { hear, runtime } = await startDaemon(config, {
      clock,
      before: dead(job, { runs: 1, nextAt: begun + hour }),
    });
    await hear('run.finished', { job: 'orders' });
    expect(source.stoodFor).toEqual([standsFor === undefined ? undefined : begun]);
    expect((await runtime.store.schedules.find('orders'))?.next_at).toBe(begun + hour);
  });

  it('runs again for its original time, even if a later firing was skipped', async () => {
    const { job, config, source } = await setUpWith({
      ...hourly,
      misfire: { policy: 'run_all', withinMs: 24 * hour, atMost: 24 },
    });
    const { clock, begun } = halfPast();
    const { hear } = await startDaemon(config, {
      clock,
      before: dead(job, { runs: 1, nextAt: begun + hour, firedAt: begun - hour }),
    });
    await hear('run.finished', { job: 'orders' });
    expect(source.stoodFor[0]).toBe(begun - hour);
  });

  it('waits for the next firing if the process also died in the run before it', async () => {
    const { job, config } = await setUpWith(hourly);
    const { clock, begun } = halfPast();
    const { runtime } = await startDaemon(config, { clock, before: dead(job, { runs: 2, nextAt: begun + hour }) });
    expect((await runtime.store.schedules.find('orders'))?.next_at).toBe(begun + hour);
  });

  it("isn't repeated with skip, because it would be too old", async () => {
    const { job, config } = await setUpWith({ ...hourly, misfire: { policy: 'skip' } });
    const { clock, begun } = halfPast();
    const { runtime } = await startDaemon(config, { clock, before: dead(job, { runs: 1, nextAt: begun + hour }) });
    expect((await runtime.store.schedules.find('orders'))?.next_at).toBe(begun + hour);
  });
});

describe('several firings that are due at once', () => {
  it('run with the configured concurrency in the order of their planned times, and adapt to a reload', async () => {
    const { folder, service, destination } = await setUpWith(hourly);
    const order: string[] = [];
    const gates = new Map<string, ReturnType<typeof gate>>();
    const jobs = await Promise.all(
      ['c', 'a', 'd', 'b'].map(async (name) => {
        const [source, slow] = [new Source(), gate()];
        gates.set(name, slow);
        source.says = (signal) => {
          order.push(name);
          return slow.says(signal);
        };
        return jobOf({ name, destination, instance: await service.instance(), source, schedule: hourly });
      }),
    );
    const { clock, begun } = halfPast();
    const due = jobs.map((job) => [job, begun - hour + job.name.charCodeAt(0) * 1000] as const);
    const narrow = { ...configOf(folder, jobs), concurrency: 1 };
    const { daemon, count } = await startDaemon(narrow, { clock, before: dueAt(...due) });
    await until('the first job to start', () => order.length === 1);
    expect(daemon.ticking()?.line?.firings).toBe(3);
    expect(daemon.ticking()?.line?.oldest).toBeGreaterThan(hour);
    gates.get('a')!.open('1');
    await until('the second job to start', () => order.length === 2);
    expect(order).toEqual(['a', 'b']);
    await daemon.adopt({ ...narrow, concurrency: 3 });
    await until('all jobs to start', () => order.length === 4);
    expect(order.slice(2).toSorted()).toEqual(['c', 'd']);
    for (const slow of gates.values()) slow.open('end');
    await until('all runs to finish', () => count('run.finished') === 4);
  });
});

describe('a config change', () => {
  it('neither blocks a running job nor lets it fire twice, no matter how many changes follow', async () => {
    const { folder, config, job, source } = await setUpWith(hourly);
    const slow = gate();
    source.says = slow.says;
    const clock = clockAtHalfPast();
    const { hear, count, daemon, runtime } = await startDaemon(config, { clock, before: overdue(job) });
    await until('the extract to start', () => source.asked === 1);
    const edits: readonly (Partial<Job> | undefined)[] = [
      { schedule: { cron: '*/5 * * * *', timezone: 'UTC' } },
      { enabled: false },
      undefined,
      { schedule: { at: ['06:00'], timezone: 'Asia/Kathmandu' } },
      {},
      { schedule: { ...hourly, overlap: 'buffer_one' } },
    ];
    for (const edit of edits) {
      await Promise.all([
        daemon.adopt(configOf(folder, edit === undefined ? [] : [{ ...job, ...edit }])),
        daemon.adopt(configOf(folder, edit === undefined ? [] : [{ ...job, ...edit }])),
      ]);
    }
    expect([source.asked, count('firing.skipped')]).toEqual([1, 0]);
    slow.open('from before');
    await hear('payload.delivered');
    clock.wall += hour;
    await daemon.adopt(configOf(folder, [{ ...job, schedule: { ...hourly, overlap: 'buffer_one' } }]));
    await until('the next run to finish', () => count('run.finished') === 2);
    expect((await runtime.store.schedules.find('orders'))?.next_at).toBeGreaterThan(clock.now());
  });

  it('lets a renamed job start fresh while the run under the old name finishes', async () => {
    const { folder, config, job, source } = await setUpWith(hourly);
    const slow = gate();
    source.says = slow.says;
    const clock = clockAtHalfPast();
    const { hear, daemon, runtime } = await startDaemon(config, { clock, before: overdue(job) });
    await until('the extract to start', () => source.asked === 1);
    await daemon.adopt(configOf(folder, [{ ...job, name: 'sales' }]));
    expect((await runtime.store.schedules.all()).map((row) => row.job)).toEqual(['sales']);
    slow.open('old');
    await hear('run.finished', { job: 'orders' });
    expect(source.asked).toBe(1);
    clock.wall += hour;
    await daemon.adopt(configOf(folder, [{ ...job, name: 'sales' }]));
    await hear('run.finished', { job: 'sales' });
    expect((await runtime.store.schedules.all()).map((row) => row.job)).toEqual(['sales']);
  });

  it('keeps a queued firing in the queue without adding it again', async () => {
    const { folder, service, destination, job } = await setUpWith(hourly);
    const [busy, slow] = [new Source(), gate()];
    busy.says = slow.says;
    const first = jobOf({
      name: 'first',
      destination,
      instance: await service.instance(),
      source: busy,
      schedule: hourly,
    });
    const config = { ...configOf(folder, [first, job]), concurrency: 1 };
    const { clock, begun } = halfPast();
    const before = dueAt([first, begun - 2 * hour], [job, begun - hour]);
    const { daemon, count, hear, runtime } = await startDaemon(config, { clock, before });
    await until('the first job to run', () => busy.asked === 1);
    for (let n = 0; n < 5; n++) await daemon.adopt(config);
    expect((await runtime.store.schedules.find('orders'))?.next_at).toBe(begun - hour);
    expect(count('firing.skipped')).toBe(0);
    slow.open('end');
    await hear('run.finished', { job: 'orders' });
    expect(count('run.started', { job: 'orders' })).toBe(1);
  });
});
