import { expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { explainJobs } from '../../../src/daemon/explain/explain.ts';
import { reportPlan } from '../../../src/daemon/plan/report-plan.ts';
import { reportStatus } from '../../../src/daemon/report/report-status.ts';
import { Bank } from '../bank.ts';
import { hour, minute, noon, openWorld } from './world.ts';

/** A daemon whose password is refused at noon, and what each user interface shows a few minutes later. */
async function refusedAtNoon() {
  const world = await openWorld(noon - minute);
  const bank = new Bank(world.clock);
  const source = bank.source('wrong');
  const job = (name: string, n: number, cron: string, more: object = {}): Job => {
    const made = world.job({ name, n, cron });
    const schedule = { ...made.schedule!, ...more };
    return { ...made, schedule, extract: { ...made.extract!, source } };
  };
  const jobs = [
    job('frequent', 0, '*/15 * * * *'),
    job('daily', 1, '0 12 * * *'),
    job('half', 2, '30 * * * *'),
    job('evening', 3, '0 18 * * *'),
    job('skipping', 4, '7,22,37,52 * * * *', { misfire: { policy: 'skip' } }),
  ];
  const config = { ...world.configWith(...jobs), sources: new Map([[source.name, source]]) };
  const { runtime } = await world.live(config);
  await world.pass(5 * minute);
  const { clock } = world;
  const { store } = runtime;
  const read = async () => {
    const now = clock.now();
    const plan = await reportPlan({ config, store, now, until: now + 8 * hour });
    const status = await reportStatus(config, store, clock);
    const explained = await explainJobs(jobs, { config, store, clock });
    return { plan, status, explained };
  };
  return { ...world, store, jobs, read, retryAt: (await store.loginHolds.all())[0]!.retry_at! };
}

it('status, explain and plan name the same next run while a login is on hold', async () => {
  const { jobs, read, retryAt } = await refusedAtNoon();
  const { plan, status, explained } = await read();
  const next = Object.fromEntries(status.jobs.map(({ job, next_run_at }) => [job, next_run_at]));
  expect(next).toEqual({
    frequent: retryAt,
    daily: retryAt,
    half: retryAt,
    evening: noon + 6 * hour,
    // It doesn't catch up on missed firings.
    skipping: noon + hour + 7 * minute,
  });
  for (const [i, { name }] of jobs.entries()) {
    expect(explained[i]!.next?.at, name).toBe(next[name]);
    expect(plan.firings!.find(({ job }) => job === name)?.at, name).toBe(next[name]);
  }
});

it('a plan counts one run for all firings that wait for a login', async () => {
  const { read, retryAt } = await refusedAtNoon();
  const { firings, accounts } = (await read()).plan;
  const of = (name: string): number[] => firings!.filter(({ job }) => job === name).map(({ at }) => at);
  expect(of('daily')).toEqual([retryAt]);
  expect(of('half')).toHaveLength(1 + 7);
  expect(of('evening')).toEqual([noon + 6 * hour]);
  expect(firings!.map(({ at }) => at)).toEqual(firings!.map(({ at }) => at).toSorted((a, b) => a - b));
  expect(accounts[0]!.by_job.find(({ job }) => job === 'daily')).toMatchObject({ firings: 1, first_at: retryAt });
});

it("no user interface announces a run if only a user can resume the job's login", async () => {
  const { read, store } = await refusedAtNoon();
  const [hold] = await store.loginHolds.all();
  await store.loginHolds.postpone(hold!, null as never);
  const { status, explained, plan } = await read();
  expect(status.jobs.map(({ next_run_at }) => next_run_at)).toEqual(Array.from({ length: 5 }, () => undefined));
  expect(explained.map(({ next }) => next)).toEqual(
    Array.from({ length: 5 }, () => ({ message: 'nothing until a person resumes the login' })),
  );
  expect(plan.accounts.every(({ by_job }) => by_job.every(({ expected }) => expected === 0))).toBe(true);
});
