import { expect, it } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { approve } from '../../../src/delivery/decide.ts';
import type { ShiftedClock } from '../../clocks.ts';
import { until } from '../../journey/process.ts';
import { clockAtHalfPast, configOf, type Started, setUp, startDaemon } from '../rig.ts';

const hour = 3_600_000;
const by = { who: 'ada@desk', why: 'the shop was closed' };

/** An hourly job with one row, with and without a guard that requires two. */
async function setUpBoth() {
  const { job, folder, config: free, ...rest } = await setUp();
  return { ...rest, guarded: configOf(folder, [{ ...job, guards: { rows: { minimum: 2 } } }]), free };
}

/** Advances the clock by an hour and makes the daemon check it now, as the daemon's timer would within five seconds. */
async function anHourLater({ daemon }: Started, config: Config, clock: ShiftedClock): Promise<void> {
  clock.wall += hour;
  await daemon.adopt(config);
}

async function theOnlyOneHeldBack({ runtime }: Started) {
  const [row] = await runtime.store.quarantine.all();
  return row!;
}

it("a scheduled run that a guard quarantines is reported, sends nothing and doesn't stop its schedule", async () => {
  const { guarded, source, service, instance } = await setUpBoth();
  const clock = clockAtHalfPast();
  const started = await startDaemon(guarded, { clock });
  await anHourLater(started, guarded, clock);
  await started.hear('payload.quarantined', { job: 'orders', code: 'GUARD_FAILED' });
  await started.hear('run.finished', { outcome: 'quarantined' });
  await anHourLater(started, guarded, clock);
  await until('the next firing', () => source.asked === 2);
  expect(await service.data(instance)).toBeUndefined();
  expect(started.count('request.sent')).toBe(0);
});

it('a payload approved while the daemon runs is sent only once, by the first process that finds it', async () => {
  const { guarded, service, instance } = await setUpBoth();
  const clock = clockAtHalfPast();
  const started = await startDaemon(guarded, { clock });
  await anHourLater(started, guarded, clock);
  await started.hear('run.finished', { outcome: 'quarantined' });
  await approve(started.runtime.gateway, await theOnlyOneHeldBack(started), by);
  await started.daemon.adopt(guarded);
  await started.hear('payload.delivered');
  expect(await service.data(instance)).toBe('value\nhello\n');
  expect(started.count('upload.started')).toBe(1);
});

it("a job on hold doesn't run, but its firings are skipped and reported until it's resumed", async () => {
  const { free, source, service, instance } = await setUpBoth();
  const clock = clockAtHalfPast();
  const before: NonNullable<Parameters<typeof startDaemon>[1]>['before'] = ({ store }) => store.holds.set('orders', by);
  const started = await startDaemon(free, { clock, before });
  const { hear, runtime } = started;
  await anHourLater(started, free, clock);
  await hear('firing.skipped', { job: 'orders', reason: 'the job is on hold' });
  expect(source.asked).toBe(0);
  expect(await runtime.store.holds.release('orders', by)).toBe(true);
  await anHourLater(started, free, clock);
  await hear('payload.delivered');
  expect(await service.data(instance)).toBe('value\nhello\n');
});
