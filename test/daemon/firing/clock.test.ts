import { describe, expect, it, onTestFinished } from 'vitest';
import { findClockSet } from '../../../src/daemon/conditions/clock.ts';
import type { Overview } from '../../../src/daemon/report/overview.ts';
import type { Store } from '../../../src/state/store.ts';
import { clockAtHalfPast, setUp, startDaemon } from '../rig.ts';

const minute = 60_000;
const setAt = (store: Store, now: number) => findClockSet({ store, overview: { now } as Overview });

/** A daemon with a job that fires every minute, ten seconds before its next firing. */
async function minutely() {
  const { config, source } = await setUp({ cron: '* * * * *' });
  const clock = clockAtHalfPast();
  clock.wall += 50_000 - (clock.now() % minute);
  return { clock, source, ...(await startDaemon(config, { clock })) };
}

describe('a clock change', () => {
  it.for([60 * minute, 30 * minute])("back by %d ms doesn't delay any job", async (back) => {
    const { clock, source, hear } = await minutely();
    clock.wall -= back;
    expect((await hear('clock.set', { seconds: -back / 1000 })).facts.message).toMatch(/^set back by (1 h|30 min) 00/);
    await expect.poll(() => source.asked, { timeout: 120_000, interval: 200 }).toBeGreaterThan(0);
  });

  it("back updates the jobs' next firings, also for other processes", async () => {
    const { clock, runtime, hear, stop } = await minutely();
    onTestFinished(stop);
    clock.wall -= 30 * minute;
    await hear('clock.set', { seconds: -1800 });
    const nextAt = async () => (await runtime.store.schedules.all()).map(({ next_at }) => next_at - clock.now());
    await expect.poll(async () => (await nextAt()).every((wait) => wait <= minute)).toBe(true);
    expect(await nextAt()).toHaveLength(1);
  });

  it('of at least five minutes raises an alert, which ends after an hour', async () => {
    const { clock, runtime, hear, stop } = await minutely();
    onTestFinished(stop);
    clock.wall -= 4 * minute;
    await hear('clock.set', { seconds: -240 });
    expect(await setAt(runtime.store, clock.now())).toEqual([]);
    clock.wall += 6 * minute;
    await hear('clock.set', { seconds: 360 });
    expect(await setAt(runtime.store, clock.now())).toMatchObject([
      { kind: 'clock', what: expect.stringContaining('set forward by 6 min') },
    ]);
    expect(await setAt(runtime.store, clock.now() + 61 * minute)).toEqual([]);
  });
});
