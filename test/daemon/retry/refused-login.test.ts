import { expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { Bank } from '../bank.ts';
import { hour, minute, noon, openWorld } from './world.ts';

async function openBank() {
  const world = await openWorld(noon - minute);
  const bank = new Bank(world.clock);
  /** A job that reads the bank with this password. */
  const job = (name: string, { n, cron, password = 'wrong' }: { n: number; cron: string; password?: string }): Job => {
    const made = world.job({ name, n, cron });
    return { ...made, extract: { ...made.extract!, source: bank.source(password) } };
  };
  return { ...world, bank, job, hours: () => bank.refused.map((at) => Math.floor((at - noon) / hour)) };
}

it('a daemon with frequent and daily jobs sends a wrong password once, then again after waits of 1 hour and 4 hours', async () => {
  const { bank, job, configWith, live, pass, hours } = await openBank();
  const config = configWith(
    job('daily', { n: 0, cron: '0 12 * * *' }),
    job('frequent', { n: 1, cron: '*/15 * * * *' }),
    job('hourly', { n: 2, cron: '0 * * * *' }),
  );
  const { named, runtime } = await live(config);
  await pass(7 * hour);
  expect(hours()).toEqual([0, 1, 5]);
  // At most one run for each job that started with the first refusal, and one for each attempt.
  expect(named('run.started').length).toBeLessThanOrEqual(3 + 2);
  const skips = await runtime.store.skips.history({ job: 'frequent', limit: 99 });
  expect(skips.reduce((sum, { firings }) => sum + firings, 0)).toBeGreaterThan(20);
  expect(skips.length).toBeLessThan(5);

  bank.passwords.set('etl', 'wrong');
  const account = { connector: 'bank', place: 'bank:1', account: 'etl' };
  await runtime.store.loginHolds.resume(account, { by: { who: 'ann', why: '' }, source: 'bank' });
  await pass(minute);
  expect(hours()).toEqual([0, 1, 5]);
  for (const name of ['daily', 'frequent', 'hourly'])
    expect(await runtime.store.runs.last(name)).toMatchObject({ state: 'delivered' });
});

it('an outage that ends with a wrong password leaves no attempt behind; the right password lets all jobs catch up', async () => {
  const { bank, job, configWith, live, pass } = await openBank();
  bank.isAway = true;
  const { named, runtime } = await live(
    configWith(job('first', { n: 0, cron: '0 12 * * *' }), job('second', { n: 1, cron: '0 12 * * *' })),
  );
  await pass(5 * minute);
  expect(await runtime.store.retries.all()).toHaveLength(2);
  bank.isAway = false;
  await pass(30 * minute);
  expect(bank.refused).toHaveLength(1);
  expect(await runtime.store.retries.all()).toEqual([]);
  for (const name of ['first', 'second'])
    expect(await runtime.store.runs.last(name)).toMatchObject({ state: 'failed' });

  bank.passwords.set('etl', 'wrong');
  await pass(hour);
  expect(bank.refused).toHaveLength(1);
  expect(named('source.resumed')).toHaveLength(1);
  for (const name of ['first', 'second'])
    expect(await runtime.store.runs.last(name)).toMatchObject({ state: 'delivered' });
});
