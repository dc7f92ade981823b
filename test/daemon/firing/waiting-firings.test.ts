import { expect, it } from 'vitest';
import type { Source } from '../../../src/config/config.ts';
import type { Firing } from '../../../src/daemon/firing/firing.ts';
import { WaitingFirings } from '../../../src/daemon/firing/waiting-firings.ts';
import type { LoginBreaker } from '../../../src/daemon/login-holds/login-breaker.ts';
import { LoginWaits } from '../../../src/daemon/login-holds/login-waits.ts';
import { holdProblem } from '../../../src/daemon/login-holds/problem.ts';
import type { LoginHoldRow } from '../../../src/state/tables.ts';
import { SteppingClock } from '../../clocks.ts';

const hold = { connector: 'db', place: 'db:5432', account: 'etl', secret: 'hash', retry_at: 0 } as LoginHoldRow;
const problem = holdProblem('bank', { ...hold, code: 'DB_LOGIN', message: 'refused' });

const clock = new SteppingClock();

const firingOf = (name: string, at: number): Firing => ({
  job: { name } as Firing['job'],
  at,
  isCatchUp: false,
});

it("a firing that is replaced during its login lookup doesn't start, and another firing makes the attempt", async () => {
  const lookups: string[] = [];
  const gate = {
    find: async () => {
      if (lookups.push('') === 1) waiting.replaceBy(firingOf('orders', 2));
      return hold;
    },
    isDue: () => true,
  } as unknown as LoginBreaker;
  const fired: string[] = [];
  const { signal: stop } = new AbortController();
  const waiting = new WaitingFirings({ clock, stop, failed: (error) => fired.push(String(error)) });
  const waits = new LoginWaits({
    ...{ gate, waiting, stop },
    fire: ({ job, at }) => fired.push(`${job.name} ${at}`),
    sourceOf: () => ({}) as Source,
  });
  waits.defer(firingOf('orders', 1), problem);
  await expect.poll(() => lookups).toHaveLength(1);
  waits.defer(firingOf('refunds', 3), problem);
  await expect.poll(() => fired).toEqual(['refunds 3']);
});

it('firings that wait for the login of one source share one lookup per poll', async () => {
  const lookups: string[] = [];
  const [mine, other] = [{ name: 'mine' }, { name: 'other' }] as Source[];
  const gate = {
    find: async ({ name }: Source) => {
      lookups.push(name);
      return lookups.length > 4 ? undefined : hold;
    },
    isDue: () => false,
  } as unknown as LoginBreaker;
  const fired: string[] = [];
  const { signal: stop } = new AbortController();
  const waiting = new WaitingFirings({ clock, stop, failed: (error) => fired.push(String(error)) });
  const waits = new LoginWaits({
    ...{ gate, waiting, stop },
    fire: ({ job }) => fired.push(job.name),
    sourceOf: (job) => (job === 'refunds' ? other : mine),
  });
  const jobs = ['orders', 'items', 'refunds', 'customers'];
  for (const job of jobs) waits.defer(firingOf(job, 1), problem);
  await expect.poll(() => fired).toHaveLength(jobs.length);
  expect(fired.toSorted()).toEqual(jobs.toSorted());
  expect(lookups).toEqual(['mine', 'other', 'mine', 'other', 'mine', 'other']);
});

it("a failed check doesn't delay other firings, and is repeated", async () => {
  const fired: string[] = [];
  const failed: unknown[] = [];
  const waiting = new WaitingFirings({ clock, stop: new AbortController().signal, failed: (one) => failed.push(one) });
  let checks = 0;
  waiting.add(firingOf('orders', 1), async () => {
    if (++checks < 3) throw new Error(`check ${checks}`);
    return () => fired.push('orders');
  });
  waiting.add(firingOf('refunds', 1), async () => () => fired.push('refunds'));
  await expect.poll(() => fired).toEqual(['refunds', 'orders']);
  expect(failed.map(String)).toEqual(['Error: check 1', 'Error: check 2']);
});
