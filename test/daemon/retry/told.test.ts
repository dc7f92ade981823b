import { describe, expect, it } from 'vitest';
import { readConditions } from '../../../src/daemon/conditions/read-conditions.ts';
import { explainJobs } from '../../../src/daemon/explain/explain.ts';
import { reportStatus } from '../../../src/daemon/report/report-status.ts';
import { syncJobs } from '../../../src/daemon/run/sync-jobs.ts';
import { hour, minute, noon, openWorld, second } from './world.ts';

/** A job that fires at noon, when its source becomes unavailable. The daemon holds its lease, as `run` does. */
async function away(outage: number) {
  const world = await openWorld(noon - minute);
  world.away.between(noon, noon + outage);
  const job = world.job({ cron: '0 12 * * *' });
  const config = world.configWith(job);
  const life = await world.live(config);
  await life.runtime.store.leases.take('daemon');
  const { store } = life.runtime;
  // Nothing monitors the schedules here.
  const conditions = async () =>
    (await readConditions(config, store, { clock: world.clock })).filter(({ subject }) => subject === 'job:orders');
  return { ...world, ...life, conditions, config, read: job };
}

describe('the report about a run that is retried', () => {
  it('is a warning with the time of the next attempt, in every user interface', async () => {
    const { pass, conditions, config, runtime, clock, read } = await away(hour);
    await pass(minute + 5 * second);
    const row = (await runtime.store.retries.all())[0]!;
    const at = new Date(row.next_at).toISOString().slice(11, 19);
    expect(await conditions()).toMatchObject([{ subject: 'job:orders', kind: 'retrying', level: 'warning' }]);
    expect((await conditions())[0]!.what).toBe(
      `connection refused (db:5432); tries again at 2026-11-23 ${at}Z (attempt 2)`,
    );
    const [job] = (await reportStatus(config, runtime.store, clock)).jobs;
    expect(job).toMatchObject({
      state: `tries again at 2026-11-23 ${at}Z (attempt 2)`,
      waits_until: row.next_at,
      retrying: { attempt: 2, at: row.next_at, until: noon + second + 6 * hour - second },
    });
    const [explained] = await explainJobs([read], { config, store: runtime.store, clock });
    expect(explained).toMatchObject({
      verdict: 'waiting for its source',
      next: { at: row.next_at, message: 'attempt 2' },
    });
  });

  it('becomes a failure after 15 minutes, and ends with the first successful result', async () => {
    const { pass, conditions, named } = await away(30 * minute);
    await pass(minute + 14 * minute);
    expect(await conditions()).toMatchObject([{ kind: 'retrying' }]);
    await pass(2 * minute);
    expect(await conditions()).toMatchObject([{ kind: 'failed', level: 'error', failures: 1 }]);
    expect((await conditions())[0]!.what).toMatch(/; tries again at .* \(attempt \d+\)$/);
    await pass(30 * minute);
    expect(await conditions()).toEqual([]);
    expect(named('run.finished').map(({ facts }) => facts.outcome)).toEqual(['owed']);
  });

  it('names the retried run, even if a sync that started later has failed', async () => {
    const { pass, config, runtime, clock, read } = await away(hour);
    await pass(minute + 5 * second);
    const row = (await runtime.store.retries.all())[0]!;
    const signal = new AbortController().signal;
    await clock.drive(syncJobs({ runtime, config, jobs: [read], signal, patienceMs: 0 }));
    expect((await runtime.store.runs.history({ limit: 9 })).map(({ state }) => state)).toEqual(['failed', 'retrying']);
    const [explained] = await explainJobs([read], { config, store: runtime.store, clock });
    expect(explained!.because[0]!.message).toContain(`run ${row.run} has failed 1 time since then`);
  });

  it('stays a warning even if a sync before the firing failed, because no action is needed yet', async () => {
    const { pass, away: source, conditions, config, runtime, clock, read } = await away(hour);
    source.between(noon - minute, noon + hour);
    const signal = new AbortController().signal;
    await clock.drive(syncJobs({ runtime, config, jobs: [read], signal, patienceMs: 0 }));
    expect(await conditions()).toMatchObject([{ kind: 'failed', failures: 1 }]);
    await pass(noon + 5 * second - clock.now());
    const row = (await runtime.store.retries.all())[0]!;
    expect(await conditions()).toMatchObject([
      { kind: 'retrying', level: 'warning', what: expect.stringContaining('; tries again at ') },
    ]);
    const [explained] = await explainJobs([read], { config, store: runtime.store, clock });
    expect(explained).toMatchObject({
      verdict: 'waiting for its source',
      next: { at: row.next_at, message: 'attempt 2' },
    });
    expect(explained!.fix).toBeUndefined();
    await pass(16 * minute);
    expect(await conditions()).toMatchObject([{ kind: 'failed', failures: 2 }]);
  });

  it('counts firings, not attempts', async () => {
    const { pass, conditions, runtime } = await away(60 * hour);
    await pass(31 * hour);
    expect((await runtime.store.runs.history({ limit: 9 })).map(({ state }) => state)).toEqual(['failed', 'failed']);
    expect((await conditions()).find(({ kind }) => kind === 'failed')).toMatchObject({ failures: 2 });
  });
});
