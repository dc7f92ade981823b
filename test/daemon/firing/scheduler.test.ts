import { afterEach, describe, expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import type { Firing } from '../../../src/daemon/firing/firing.ts';
import { Scheduler } from '../../../src/daemon/firing/scheduler.ts';
import { SteppingClock } from '../../clocks.ts';
import { cleanUp, newFolder, newStore } from '../../state/fixtures.ts';
import { destinationOf, jobOf, Source } from '../rig.ts';

const hour = 3_600_000;
const schedulers: Scheduler[] = [];

afterEach(async () => {
  for (const scheduler of schedulers.splice(0)) scheduler.stop();
  await cleanUp();
});

const destination = destinationOf('http://127.0.0.1:1/api/1.0');
const job = (name: string, cron = '0 * * * *', more: Partial<Job> = {}): Job => ({
  ...jobOf({ name, cron, destination, instance: name, source: new Source() }),
  ...more,
});

/** One lifetime of a daemon on a state folder. */
async function live(clock: SteppingClock, given: { folder?: string } = {}) {
  const folder = given.folder ?? newFolder();
  const store = await newStore({ clock, folder });
  const failed = (error: unknown) => {
    throw error;
  };
  const scheduler = new Scheduler({ store, clock, failed });
  schedulers.push(scheduler);
  const taken: Firing[] = [];
  const fired = () => {
    taken.push(...scheduler.due().flatMap(({ firing }) => firing ?? []));
    return taken;
  };
  const names = () => fired().map(({ job: { name }, at }) => [name, new Date(at).toISOString().slice(11, 16)]);
  /** What a run does to its firing when it starts. */
  const begin = (firing: Firing) =>
    store.transaction(async (parts) => {
      await parts.runs.begin({ job: firing.job.name, origin: 'schedule' });
      await scheduler.begin(firing, parts);
    });
  return { folder, store, scheduler, fired, begin, names };
}

/** An hourly job with three due firings. */
async function withThreeDue() {
  const clock = new SteppingClock();
  const lived = await live(clock);
  await lived.scheduler.adopt([job('orders')]);
  lived.scheduler.start();
  for (const _ of [1, 2, 3]) {
    clock.advance(hour);
    lived.scheduler.look();
  }
  return { clock, ...lived };
}

describe('the scheduler', () => {
  it('plans every enabled job with a schedule, earliest first, and records the plan', async () => {
    const clock = new SteppingClock();
    const { scheduler, store } = await live(clock);
    const { schedule: _, ...without } = job('by hand');
    await scheduler.adopt([
      job('hourly'),
      job('often', '*/5 * * * *'),
      job('off', '* * * * *', { enabled: false }),
      without,
    ]);
    expect(scheduler.next().map((one) => one.job)).toEqual(['often', 'hourly']);
    expect((await store.schedules.all()).map((row) => [row.job, row.next_at])).toEqual([
      ['often', clock.now() + 5 * 60_000],
      ['hourly', clock.now() + hour],
    ]);
  });

  it('fires due jobs in time order, once each', async () => {
    const clock = new SteppingClock();
    const { scheduler, names } = await live(clock);
    await scheduler.adopt([job('hourly'), job('half', '30 * * * *'), job('late', '0 20 * * *')]);
    scheduler.start();
    clock.advance(hour);
    scheduler.look();
    scheduler.look();
    expect(names()).toEqual([
      ['half', '16:30'],
      ['hourly', '17:00'],
    ]);
  });

  it("fires a job once at the next start, for the first firing's time, if several firings were missed", async () => {
    const clock = new SteppingClock();
    const first = await live(clock);
    await first.scheduler.adopt([job('hourly')]);
    clock.advance(5 * hour + 1000);
    const second = await live(clock, first);
    await second.scheduler.adopt([job('hourly')]);
    second.scheduler.start();
    second.scheduler.look();
    expect(second.names()).toEqual([['hourly', '17:00']]);
    expect(second.scheduler.next()).toEqual([{ job: 'hourly', at: clock.now() - 1000 + hour }]);
  });

  it('fires again at the next start if the run had not started when the process died', async () => {
    const clock = new SteppingClock();
    const first = await live(clock);
    await first.scheduler.adopt([job('hourly')]);
    first.scheduler.start();
    clock.advance(hour);
    first.scheduler.look();
    expect(first.fired()).toHaveLength(1);
    const second = await live(clock, first);
    await second.scheduler.adopt([job('hourly')]);
    second.scheduler.start();
    expect(second.names()).toEqual([['hourly', '17:00']]);
  });

  it("doesn't fire again if the run had started when the process died", async () => {
    const clock = new SteppingClock();
    const first = await live(clock);
    await first.scheduler.adopt([job('hourly')]);
    first.scheduler.start();
    clock.advance(hour);
    first.scheduler.look();
    await first.begin(first.fired()[0]!);
    const second = await live(clock, first);
    await second.scheduler.adopt([job('hourly')]);
    second.scheduler.start();
    expect(second.names()).toEqual([]);
    expect(second.scheduler.next()).toEqual([{ job: 'hourly', at: clock.now() + hour }]);
  });

  it('completes a firing in the same transaction that starts its run', async () => {
    const clock = new SteppingClock();
    const { scheduler, store, fired } = await live(clock);
    await scheduler.adopt([job('hourly')]);
    scheduler.start();
    clock.advance(hour);
    scheduler.look();
    const broken = store.transaction(async (parts) => {
      await parts.runs.begin({ job: 'hourly', origin: 'schedule' });
      await scheduler.begin(fired()[0]!, parts);
      throw new Error('the disk is full');
    });
    await expect(broken).rejects.toThrow('the disk is full');
    expect(await store.runs.last('hourly')).toBeUndefined();
    expect((await store.schedules.find('hourly'))?.next_at).toBe(clock.now());
  });

  it('repeats a deferred firing at the next start, even much later', async () => {
    const clock = new SteppingClock();
    const first = await live(clock);
    await first.scheduler.adopt([job('daily', '0 17 * * *')]);
    first.scheduler.start();
    clock.advance(hour);
    first.scheduler.look();
    const firing = first.fired()[0]!;
    await first.begin(firing);
    await first.scheduler.defer(firing, first.store);
    clock.advance(3 * hour);
    const second = await live(clock, first);
    await second.scheduler.adopt([job('daily', '0 17 * * *')]);
    second.scheduler.start();
    expect(second.names()).toEqual([['daily', '17:00']]);
  });

  it('repeats all deferred firings at the next start, earliest first', async () => {
    const clock = new SteppingClock();
    const first = await live(clock);
    const misfire = { policy: 'run_all' as const, withinMs: 24 * hour, atMost: 24 };
    const each = job('each', '', { schedule: { cron: '0 * * * *', timezone: 'UTC', misfire } });
    await first.scheduler.adopt([each]);
    first.scheduler.start();
    for (let i = 0; i < 2; i++) {
      clock.advance(hour);
      first.scheduler.look();
    }
    const firings = [...first.fired()];
    expect(firings).toHaveLength(2);
    for (const firing of firings) await first.begin(firing);
    for (const firing of firings) await first.scheduler.defer(firing, first.store);
    const second = await live(clock, first);
    await second.scheduler.adopt([each]);
    second.scheduler.start();
    second.scheduler.done(second.fired()[0]!);
    expect(second.names()).toEqual([
      ['each', '17:00'],
      ['each', '18:00'],
    ]);
  });

  it("applies a changed schedule from now on, and doesn't catch up on the old schedule", async () => {
    const clock = new SteppingClock();
    const { scheduler, store, names } = await live(clock);
    await scheduler.adopt([job('orders')]);
    scheduler.start();
    clock.advance(2 * hour + 60_000);
    await scheduler.adopt([job('orders', '30 * * * *')]);
    scheduler.look();
    expect(names()).toEqual([]);
    expect((await store.schedules.find('orders'))?.schedule).toBe('UTC 30 * * * *');
  });

  it('forgets a removed job, so that a later job with the same name has nothing to catch up on', async () => {
    const clock = new SteppingClock();
    const { scheduler, store, names } = await live(clock);
    await scheduler.adopt([job('orders'), job('stock')]);
    scheduler.start();
    await scheduler.adopt([job('stock')]);
    expect((await store.schedules.all()).map((row) => row.job)).toEqual(['stock']);
    clock.advance(3 * hour + 1000);
    await scheduler.adopt([job('orders'), job('stock')]);
    scheduler.look();
    expect(names().map(([name]) => name)).toEqual(['stock']);
  });

  it("records nothing for a removed job's firing", async () => {
    const clock = new SteppingClock();
    const { scheduler, store, fired, begin } = await live(clock);
    await scheduler.adopt([job('orders')]);
    scheduler.start();
    clock.advance(hour);
    scheduler.look();
    await scheduler.adopt([]);
    await begin(fired()[0]!);
    expect(await store.schedules.all()).toEqual([]);
  });

  it('records the current plan, not the old one, for a firing that was queued for a long time', async () => {
    const { clock, scheduler, store, fired, begin } = await withThreeDue();
    const [first, ...skipped] = fired();
    for (const firing of skipped) scheduler.done(firing);
    await begin(first!);
    expect((await store.schedules.find('orders'))?.next_at).toBe(clock.now() + hour);
  });

  it("keeps a firing that hasn't started if another firing of the same job is settled or starts", async () => {
    const { clock, scheduler, store, fired, begin } = await withThreeDue();
    const [first, second, third] = fired();
    const nextAt = async () => (await store.schedules.find('orders'))?.next_at;
    await scheduler.settle('orders', store, first);
    expect(await nextAt()).toBe(second!.at);
    await begin(third!);
    expect(await nextAt()).toBe(second!.at);
    await begin(second!);
    expect(await nextAt()).toBe(clock.now() + hour);
  });

  it("keeps its plan if the new one can't be recorded", async () => {
    const clock = new SteppingClock();
    const { scheduler, store } = await live(clock);
    await scheduler.adopt([job('orders')]);
    const broken = function* (): Generator<Job> {
      yield job('stock');
      throw new Error('no more');
    };
    await expect(scheduler.adopt(broken())).rejects.toThrow('no more');
    expect(scheduler.next().map((one) => one.job)).toEqual(['orders']);
    expect((await store.schedules.all()).map((row) => row.job)).toEqual(['orders']);
  });
});
