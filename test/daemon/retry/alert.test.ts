import { expect, it, onTestFinished } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { AlertLoop } from '../../../src/daemon/alerting/alert-loop.ts';
import { syncJobs } from '../../../src/daemon/run/sync-jobs.ts';
import { openReceiver, type Receiver, secret } from '../../alerts/receiver.ts';
import fc, { runsOf } from '../../property.ts';
import { standForRequests } from './real.ts';
import { type Life, minute, noon, openWorld, second } from './world.ts';

const outage = fc.record({
  ms: fc.integer({ min: 2, max: 100 * 60 }).map((seconds) => seconds * second),
  restarts: fc.array(
    fc.integer({ min: 1, max: 110 * 60 }).map((seconds) => noon + seconds * second),
    { maxLength: 3 },
  ),
});

/** A webhook that gets a notification for the first failed firing. */
const tellingOf = ({ url }: Receiver): NonNullable<Config['alerts']> => ({
  channels: new Map([['ops', { name: 'ops', type: 'webhook', url, secret, timeoutMs: 5_000 }]]),
  rules: [],
  firstFailure: true,
  afterFailures: 3,
  remindMs: 24 * 60 * minute,
  recovery: true,
  settleMs: 30 * second,
  unsentAfterMs: 15 * minute,
  quotaLeft: 0.1,
});

/**
 * Runs an outage that starts at noon, with a restart at each of these times. Returns the alerts, and for how long the
 * run was retried.
 */
async function play({ ms, restarts }: typeof outage extends fc.Arbitrary<infer T> ? T : never) {
  const world = await openWorld(noon - minute);
  const { clock, away, job, configWith, pass } = world;
  standForRequests(clock);
  const receiver = await openReceiver();
  away.between(noon, noon + ms);
  const config: Config = { ...configWith(job({ cron: '0 12 * * *' })), alerts: tellingOf(receiver) };
  const begin = async (): Promise<{ life: Life; end: () => Promise<void> }> => {
    const life = await world.live(config, { durable: true });
    const beat = async () => ({ ticking: true, message: '' });
    const alarm = new AlertLoop({ runtime: life.runtime, config: () => config, liveness: beat });
    alarm.start();
    const end = () => clock.drive(alarm.stop()).then(life.stop);
    onTestFinished(end);
    return { life, end };
  };
  let now = await begin();
  for (const at of restarts.toSorted((a, b) => a - b)) {
    await pass(Math.max(0, at - clock.now()));
    await now.end();
    now = await begin();
  }
  await pass(noon + 130 * minute - clock.now());
  expect(await now.life.runtime.store.runs.last('orders')).toMatchObject({ state: 'delivered' });
  await now.end();
  const told = receiver.got.map(({ text }) => (JSON.parse(text) as { type: string }).type);
  return { told, triedMs: away.asked.at(-1)! - away.asked[0]! };
}

it('an outage of more than 15 minutes causes one alert, and one recovery message afterwards', async () => {
  const property = fc.asyncProperty(outage, async (given) => {
    const { told, triedMs } = await play(given);
    const both = ['alert.opened', 'alert.recovered'];
    // A check is due once a minute, and its findings are sent after 30 seconds.
    if (triedMs < 15 * minute - second) expect(told).toEqual([]);
    else if (triedMs > 18 * minute) expect(told).toEqual(both);
    else expect([[], both]).toContainEqual(told);
  });
  await fc.assert(property, { numRuns: runsOf(8) });
});

it("a failed sync's alert ends with the first successful result, not while a later firing is retried", async () => {
  const world = await openWorld(noon - 10 * minute);
  const { clock, away, job, configWith, pass } = world;
  standForRequests(clock);
  const receiver = await openReceiver();
  away.between(noon - 10 * minute, noon + 9 * minute);
  const read = job({ cron: '0 12 * * *' });
  const config: Config = { ...configWith(read), alerts: tellingOf(receiver) };
  const { runtime } = await world.live(config);
  const beat = async () => ({ ticking: true, message: '' });
  const alarm = new AlertLoop({ runtime, config: () => config, liveness: beat });
  alarm.start();
  onTestFinished(() => clock.drive(alarm.stop()));
  const told = () => receiver.got.map(({ text }) => (JSON.parse(text) as { type: string }).type);
  const signal = new AbortController().signal;
  await clock.drive(syncJobs({ runtime, config, jobs: [read], signal, patienceMs: 0 }));
  await pass(noon + 8 * minute - clock.now());
  expect(await runtime.store.runs.last('orders')).toMatchObject({ state: 'retrying' });
  expect(told()).toEqual(['alert.opened']);
  await pass(30 * minute);
  expect(told()).toEqual(['alert.opened', 'alert.recovered']);
});
