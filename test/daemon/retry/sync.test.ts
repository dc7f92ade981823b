import { expect, it, onTestFinished } from 'vitest';
import { simulatedNetwork } from '../../../src/cli/simulate/network.ts';
import type { Job } from '../../../src/config/config.ts';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { SyncAttempts } from '../../../src/daemon/retry/sync-attempts.ts';
import { syncJobs } from '../../../src/daemon/run/sync-jobs.ts';
import type { ProblemOptions } from '../../../src/lib/problem.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import type { RetryRow } from '../../../src/state/tables.ts';
import { minute, noon, openWorld, second, usual } from './world.ts';

/** A sync of `count` jobs that read one source, on the virtual clock. */
async function sync(given: {
  count?: number;
  patienceMs: number;
  outage: number;
  problem?: Partial<ProblemOptions>;
  attempts?: number;
  /** Each job's time limit for retries. */
  withinMs?: readonly number[];
  stopAfterMs?: number;
}) {
  const { count = 1, patienceMs, outage, problem, attempts, withinMs = [], stopAfterMs } = given;
  const usually = attempts === undefined ? usual : { ...usual, attempts };
  const world = await openWorld();
  const { clock, away, job, configWith } = world;
  away.between(noon, noon + outage, problem);
  const jobs = Array.from({ length: count }, (_, n) => {
    const retry = { ...usually, withinMs: withinMs[n] ?? usual.withinMs };
    return job({ name: `job${n}`, n, retry });
  });
  const config = configWith(...jobs);
  const runtime = await composeRuntime({
    config,
    clock,
    network: simulatedNetwork({ clock, seed: 0 }),
    durable: false,
  });
  onTestFinished(() => runtime.close());
  const stop = new AbortController();
  if (stopAfterMs !== undefined) void clock.sleep(stopAfterMs).then(() => stop.abort(new Error('stopped')));
  const outcomes = await clock.drive(syncJobs({ runtime, config, jobs, signal: stop.signal, patienceMs }));
  return { ...world, runtime, outcomes };
}

it('a sync retries an unavailable source until it can be read', async () => {
  const { outcomes, runtime, away, clock } = await sync({ patienceMs: 5 * minute, outage: minute });
  expect(outcomes).toMatchObject([{ state: 'delivered' }]);
  expect(clock.now()).toBeLessThan(noon + minute + 40 * second);
  const runs = await runtime.store.runs.history({ limit: 9 });
  expect(runs).toMatchObject([{ state: 'delivered', attempts: away.asked.length }]);
  // The time since the first attempt, including the pauses.
  expect(Math.round(outcomes[0]!.milliseconds)).toBe(clock.now() - noon);
});

it("a sync ends with the source's error when its time limit is reached", async () => {
  const { outcomes, runtime, clock } = await sync({ patienceMs: 2 * minute, outage: 10 * minute });
  expect(outcomes).toMatchObject([{ state: 'failed', problem: { code: 'DB_UNREACHABLE' } }]);
  expect(clock.now()).toBeLessThan(noon + 2 * minute + 2 * second);
  expect(await runtime.store.runs.history({ limit: 9 })).toMatchObject([{ state: 'failed', code: 'DB_UNREACHABLE' }]);
});

it("a sync that has used up its attempts reports the source's complete error", async () => {
  const problem = { allowed: '10 connections', next: 'run fewer jobs at once', retryAfterMs: 1000, isRateLimit: true };
  const { outcomes } = await sync({ patienceMs: 5 * minute, outage: minute, attempts: 1, problem });
  expect(outcomes).toMatchObject([{ state: 'failed', problem }]);
  expect(outcomes[0]!.problem!.message).toMatch(/; no more retries after 1 attempt$/);
});

it('a sync without a time limit makes only one attempt', async () => {
  const { outcomes, away } = await sync({ patienceMs: 0, outage: minute });
  expect(outcomes).toMatchObject([{ state: 'failed' }]);
  expect(away.asked).toHaveLength(1);
});

it('a sync that is stopped while it waits leaves no run to retry', async () => {
  const { outcomes, runtime, clock } = await sync({
    patienceMs: 5 * minute,
    outage: 9 * minute,
    stopAfterMs: 2 * second,
  });
  expect(outcomes).toMatchObject([{ state: 'stopped', problem: { code: 'DB_UNREACHABLE' } }]);
  expect(clock.now()).toBe(noon + 2 * second);
  expect(await runtime.store.runs.history({ limit: 9 })).toMatchObject([{ state: 'failed' }]);
});

it('a sync of many jobs sends an unavailable source one probe at a time', async () => {
  const { outcomes, away } = await sync({ count: 40, patienceMs: 5 * minute, outage: 2 * minute });
  expect(new Set(outcomes.map(({ state }) => state))).toEqual(new Set(['delivered']));
  // After ten seconds, the first attempts, four at a time, are over.
  const probes = away.asked.filter((at) => at > noon + 15 * second && at < noon + 2 * minute);
  expect(probes.length).toBeLessThan(10);
  // Once a probe has read the source, the other jobs also read it four at a time, which takes ten seconds.
  const reads = away.asked.filter((at) => at >= noon + 2 * minute);
  expect(reads).toHaveLength(40);
  expect(reads.at(-1)! - reads[0]!).toBeLessThan(15 * second);
});

it('a job of a sync fails if its time limit ends before the next probe of its source', async () => {
  const { outcomes, away } = await sync({
    count: 2,
    patienceMs: 5 * minute,
    outage: 10 * second,
    problem: { retryAfterMs: 5 * second },
    withinMs: [minute, 8 * second],
  });
  expect(outcomes).toMatchObject([{ state: 'delivered' }, { state: 'failed', problem: { code: 'DB_UNREACHABLE' } }]);
  expect(away.asked).toHaveLength(4);
});

it('a job of a sync that is already stopped ends instead of waiting for its next attempt', async () => {
  const clock = new VirtualClock(noon);
  const attempts = new SyncAttempts({ clock, signal: AbortSignal.abort() });
  const row = { job: 'orders', next_at: noon + second } as RetryRow;
  const late = clock.sleep(minute).then(() => 'late');
  expect(await clock.drive(Promise.race([attempts.wait({ name: 'orders' } as Job, row), late]))).toBe('stopped');
});
