import { expect, it } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { approve } from '../../../src/delivery/decide.ts';
import { configOf, SetClock, type Started, setUp, startDaemon, until } from '../rig.ts';

const hour = 3_600_000;
const by = { who: 'ada@desk', why: 'the shop was closed' };

/** A job of one row at each hour: with a guard that wants two, and without. */
async function setUpBoth() {
  const { job, folder, config: free, ...rest } = await setUp();
  return { ...rest, guarded: configOf(folder, [{ ...job, guards: { rows: { minimum: 2 } } }]), free };
}

/** The clock turns an hour, and the daemon looks at it now: its timer would within five seconds. */
async function anHourLater({ daemon }: Started, config: Config, clock: SetClock): Promise<void> {
  clock.forward(hour);
  await daemon.adopt(config);
}

async function theOnlyOneHeldBack({ runtime }: Started) {
  const [row] = await runtime.store.quarantine.all();
  return row!;
}

it('a scheduled run that a guard holds back is said, sends nothing, and goes on with its schedule', async () => {
  const { guarded, source, service, instance } = await setUpBoth();
  const clock = new SetClock();
  const started = await startDaemon(guarded, { clock });
  await anHourLater(started, guarded, clock);
  await started.hear('payload.quarantined', { job: 'orders', code: 'GUARD_FAILED' });
  await started.hear('run.finished', { outcome: 'quarantined' });
  await anHourLater(started, guarded, clock);
  await until('the next firing', () => source.asked === 2);
  expect(await service.data(instance)).toBeUndefined();
  expect(started.count('request.sent')).toBe(0);
});

it('a payload approved while the daemon runs is sent once, by the first process', async () => {
  const { guarded, service, instance } = await setUpBoth();
  const clock = new SetClock();
  const started = await startDaemon(guarded, { clock });
  await anHourLater(started, guarded, clock);
  await started.hear('run.finished', { outcome: 'quarantined' });
  await approve(started.runtime.gateway, await theOnlyOneHeldBack(started), by);
  await started.daemon.adopt(guarded);
  await started.hear('payload.delivered');
  expect(await service.data(instance)).toBe('value\nhello\n');
  expect(started.count('upload.started')).toBe(1);
});

it('a job that is held does not run: its firings are skipped and said, until it is let go', async () => {
  const { free, source, service, instance } = await setUpBoth();
  const clock = new SetClock();
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
