import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Alerts } from '../../../src/config/alerts.ts';
import type { Config, Job } from '../../../src/config/config.ts';
import { alertConditions } from '../../../src/daemon/alerting/alert-conditions.ts';
import { readConditions } from '../../../src/daemon/conditions/read-conditions.ts';
import { explainJob } from '../../../src/daemon/explain/explain.ts';
import { makeFolder } from '../../journey/process.ts';
import { Bank } from '../bank.ts';
import { clockAtHalfPast, configOf, destinationOf, jobOf, openService, overdue, Source, startDaemon } from '../rig.ts';

const hour = 3_600_000;

/** Two daily jobs that read the bank, and one that uses another account, all due at once. */
async function setUp() {
  const [folder, service, clock] = [await makeFolder(), await openService(), clockAtHalfPast()];
  const bank = new Bank(clock);
  const destination = destinationOf(service.url);
  const made = async (name: string, password: string, user = 'etl'): Promise<Job> => {
    const job = jobOf({
      name,
      destination,
      instance: await service.instance(),
      source: new Source(),
      cron: '0 0 * * *',
    });
    const source = bank.source(password, { name: user === 'etl' ? 'bank' : user }, user);
    return { ...job, extract: { ...job.extract!, source } };
  };
  const configWith = async (password: string): Promise<Config> => {
    const jobs = [
      await made('orders', password),
      await made('refunds', password),
      await made('healthy', 'right', 'other'),
    ];
    const sources = jobs.map(({ extract }) => [extract!.source.name, extract!.source] as const);
    return { ...configOf(folder, jobs), sources: new Map(sources) };
  };
  return { clock, bank, configWith };
}

it('jobs with a refused login wait, are reported as waiting, and run once an attempt succeeds', async () => {
  const { clock, bank, configWith } = await setUp();
  bank.passwords.set('etl', 'soon right');
  const config = await configWith('late');
  const jobs = [...config.jobs.values()];
  const started = await startDaemon(config, { clock, before: overdue(...jobs) });
  const { hear, count, runtime } = started;
  await hear('payload.delivered', { job: 'healthy' });
  await hear('source.on_hold', { source: 'bank', place: 'bank:1', user: 'etl', refusals: 1, code: 'BANK_REFUSED' });
  await expect.poll(() => count('run.finished') + count('firing.skipped')).toBe(3);
  expect(bank.refused).toHaveLength(1);

  const conditions = await readConditions(config, runtime.store, { clock });
  expect(conditions.filter(({ level }) => level === 'error')).toMatchObject([
    {
      ...{ subject: 'source:bank', kind: 'login_refused', jobs: ['orders', 'refunds'], code: 'BANK_REFUSED' },
      what: expect.stringMatching(/^login refused at bank:1 as etl; 2 jobs are waiting; next attempt at /),
      fix: expect.stringContaining('sluice sources resume bank'),
    },
  ]);
  const limits = { afterFailures: 3, firstFailure: true, remindMs: hour, unsentAfterMs: hour, quotaLeft: 0.1 };
  const alerts: Alerts = { ...limits, channels: new Map(), rules: [], recovery: true, settleMs: 0 };
  expect(alertConditions(conditions, { config, alerts, hasBeat: false })).toMatchObject([
    { subject: 'source:bank', occasion: 'login', level: 2, what: expect.stringContaining('2 jobs are waiting') },
  ]);
  const story = await explainJob(jobs[0]!, { config, store: runtime.store, clock });
  expect(story).toMatchObject({
    verdict: 'login refused',
    fix: expect.stringContaining('sluice sources resume bank'),
  });
  expect(story.next?.at).toBe(conditions.find(({ until }) => until !== undefined)?.until);

  bank.passwords.set('etl', 'late');
  clock.wall += hour;
  await hear('payload.delivered', { job: 'orders' });
  await hear('payload.delivered', { job: 'refunds' });
  expect(count('source.resumed')).toBe(1);
  expect(bank.refused).toHaveLength(1);
  const after = await readConditions(config, runtime.store, { clock });
  expect(after.filter(({ level }) => level === 'error')).toEqual([]);
});

it.each(['stopped', 'killed'] as const)(
  'a reload with the right secret runs the waiting jobs, but a %s daemon leaves them to its next start',
  async (end) => {
    const { clock, bank, configWith } = await setUp();
    const wrong = await configWith('wrong');
    const first = await startDaemon(wrong, { clock, before: overdue(...wrong.jobs.values()) });
    await first.hear('source.on_hold');
    await expect.poll(() => first.count('run.finished') + first.count('firing.skipped')).toBe(3);
    if (end === 'stopped') await first.stop();
    // What a kill would leave behind.
    const state = join(await makeFolder(), 'state');
    await cp(wrong.state, state, { recursive: true });

    const second = await startDaemon({ ...wrong, state }, { clock });
    await second.hear('firing.skipped', { job: 'orders' });
    await second.hear('firing.skipped', { job: 'refunds' });
    expect(second.count('run.started')).toBe(0);
    expect(bank.refused).toHaveLength(1);
    await second.daemon.adopt({ ...(await configWith('right')), state });
    await second.hear('payload.delivered', { job: 'orders' });
    await second.hear('payload.delivered', { job: 'refunds' });
    expect(bank.refused).toHaveLength(1);
  },
);
