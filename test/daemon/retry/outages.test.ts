import { describe, expect, it } from 'vitest';
import { hour, minute, noon, openWorld, second, usual } from './world.ts';

describe('a run whose source is unavailable', () => {
  const outages = [
    ['5 seconds', 5 * second],
    ['5 minutes', 5 * minute],
    ['50 minutes', 50 * minute],
    ['4 hours of the night', 4 * hour],
  ] as const;
  const sources = [
    ['a database', 'DB_UNREACHABLE'],
    ['an API', 'SERVICE_BUSY'],
    ['an FTP server', 'FTP_UNREACHABLE'],
    ['a token endpoint', 'LOGIN_UNREACHABLE'],
  ] as const;
  const cases = sources.flatMap(([source, code]) => outages.map(([span, ms]) => ({ source, span, code, ms })));

  it.each(cases)('catches up within one wait after $source was unavailable for $span', async ({ code, ms }) => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.between(noon, noon + ms, { code });
    const { runtime, named } = await live(configWith(job({ cron: '0 12 * * *' })));
    await pass(ms + 12 * minute);
    const [run, ...others] = await runtime.store.runs.history({ limit: 9 });
    expect(others).toEqual([]);
    expect(run).toMatchObject({ attempts: away.asked.length, fired_at: noon, state: 'delivered', code: null });
    expect(away.asked.at(-1)! - (noon + ms)).toBeLessThanOrEqual(10 * minute);
    expect(named('run.finished')).toHaveLength(1);
    expect(named('run.retrying')).toHaveLength(away.asked.length - 1);
    expect(named('run.retrying').every(({ facts }) => facts.code === code)).toBe(true);
    expect(await runtime.store.retries.all()).toEqual([]);
  });
});

describe("a run's attempts end", () => {
  it('at the next firing, which starts with its own first attempt', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.between(noon, noon + 65 * minute);
    const { runtime, named } = await live(configWith(job({ cron: '0 12,13 * * *' })));
    await pass(80 * minute);
    const [second, first, ...others] = await runtime.store.runs.history({ limit: 9 });
    expect(others).toEqual([]);
    expect(first).toMatchObject({ state: 'failed', fired_at: noon, code: 'DB_UNREACHABLE' });
    expect(first!.message).toMatch(/attempts failed since .*; the next firing is at /);
    expect(second).toMatchObject({ state: 'delivered', fired_at: noon + hour });
    expect(named('run.finished').map(({ facts }) => facts.outcome)).toEqual(['failed', 'owed']);
    const before = away.asked.filter((at) => at < noon + hour);
    expect(before).toHaveLength(first!.attempts);
    expect(away.asked.filter((at) => at >= noon + hour)).toHaveLength(second!.attempts);
  });

  it("at the next firing, even while they wait for another job's probe of the source", async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.between(noon, noon + hour);
    const probing = job({ name: 'probing', cron: '0 12 * * *', retry: { ...usual, firstMs: 5 * second } });
    const { named } = await live(configWith(probing, job({ cron: '0,5 12 * * *', n: 1 })));
    await pass(minute + 2 * second);
    away.takesMs = 20 * minute;
    await pass(6 * minute);
    expect(away.source.open).toBe(2);
    expect(named('run.finished')).toMatchObject([
      { facts: { job: 'orders', outcome: 'failed', attempts: 1, clock: noon + 5 * minute } },
    ]);
  });

  it('at the next firing, even if a probe of the source succeeds at that moment', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.between(noon, noon + minute);
    const probing = job({ name: 'probing', cron: '0 12 * * *', retry: { ...usual, firstMs: 5 * second } });
    const { runtime } = await live(configWith(probing, job({ cron: '0,5 12 * * *', n: 1 })));
    await pass(minute + 2 * second);
    const { next_at } = (await runtime.store.retries.all())[0]!;
    away.takesMs = noon + 5 * minute - next_at;
    await pass(5 * minute);
    const runs = (await runtime.store.runs.history({ limit: 9 })).filter((run) => run.job === 'orders');
    expect(runs).toMatchObject([
      { fired_at: noon + 5 * minute, attempts: 1 },
      { state: 'failed', attempts: 1 },
    ]);
  });

  it('after the time in `within`, counted from the first attempt', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.between(noon, noon + 9 * hour);
    const { runtime } = await live(configWith(job({ cron: '0 12 * * *' })));
    await pass(8 * hour);
    expect(await runtime.store.runs.last('orders')).toMatchObject({ state: 'failed', attempts: away.asked.length });
    expect(away.asked.at(-1)).toBeLessThanOrEqual(noon + 6 * hour);
    expect(away.asked.at(-1)).toBeGreaterThan(noon + 6 * hour - 11 * minute);
  });

  it('after the number in `attempts`, if set', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.between(noon, noon + hour);
    const { runtime } = await live(configWith(job({ cron: '0 12 * * *', retry: { ...usual, attempts: 3 } })));
    await pass(2 * hour);
    const run = await runtime.store.runs.last('orders');
    expect(run).toMatchObject({ state: 'failed', attempts: 3 });
    expect(run!.message).toContain('; no more retries after 3 attempts');
  });

  it('at a permanent error', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.fault = (now) => (now < noon + 10 * second ? {} : { family: 'job', code: 'DB_QUERY_FAILED' });
    const { runtime, named } = await live(configWith(job({ cron: '0 12 * * *' })));
    await pass(hour);
    expect(await runtime.store.runs.last('orders')).toMatchObject({
      state: 'failed',
      attempts: 2,
      code: 'DB_QUERY_FAILED',
    });
    expect(named('run.finished')).toHaveLength(1);
  });

  it('if the source asks for a wait beyond the next firing, which the run reports', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.fault = () => ({ code: 'REST_BUSY', retryAfterMs: 2 * hour });
    const { runtime } = await live(configWith(job({ cron: '0 * * * *' })));
    await pass(30 * minute);
    const run = await runtime.store.runs.last('orders');
    expect(run).toMatchObject({ state: 'failed', attempts: 1, code: 'REST_BUSY' });
    expect(run!.message).toMatch(/; the source asked Sluice to wait until .*14:00.*; the next firing is at .*13:00/);
  });

  it('after the first one if `retry` is off', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.between(noon, noon + minute);
    const { retry: _, ...once } = job({ cron: '0 12 * * *' });
    const { runtime } = await live(configWith(once));
    await pass(hour);
    expect(await runtime.store.runs.last('orders')).toMatchObject({ state: 'failed', attempts: 1 });
  });
});

describe('a source that asks for a pause', () => {
  it('is retried when the pause is over, but not before', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.fault = (now) => (now < noon + 10 * second ? { code: 'REST_BUSY', retryAfterMs: 20 * minute } : undefined);
    const { runtime } = await live(configWith(job({ cron: '0 12 * * *' })));
    await pass(30 * minute);
    expect(await runtime.store.runs.last('orders')).toMatchObject({ state: 'delivered', attempts: 2 });
    expect(away.asked[1]! - away.asked[0]!).toBeGreaterThanOrEqual(20 * minute);
  });
});

describe('a vendor whose daily allowance is exhausted', () => {
  const spent = { code: 'SERVICE_DAILY_LIMIT', isDailyLimit: true } as const;

  it('is retried once, as late as possible', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.fault = () => spent;
    const { runtime } = await live(configWith(job({ cron: '0 12 * * *' })));
    await pass(7 * hour);
    expect(away.asked).toHaveLength(2);
    expect(away.asked[1]).toBeGreaterThanOrEqual(noon + 6 * hour - 31 * second);
    const run = await runtime.store.runs.last('orders');
    expect(run).toMatchObject({ state: 'failed', attempts: 2, code: 'SERVICE_DAILY_LIMIT' });
    expect(run!.message).toMatch(/; 2 attempts failed since .*; attempts end at /);
  });

  it('is retried when its day ends, if it says when that is', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.fault = (now) => (now < noon + hour ? { ...spent, retryAfterMs: noon + hour - now } : undefined);
    const { runtime } = await live(configWith(job({ cron: '0 12 * * *' })));
    await pass(2 * hour);
    expect(await runtime.store.runs.last('orders')).toMatchObject({ state: 'delivered', attempts: 2 });
    expect(away.asked[1]).toBeLessThan(noon + hour + minute);
  });

  it("isn't retried before the next firing if that comes first", async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.fault = () => spent;
    const { runtime } = await live(configWith(job({ cron: '0 * * * *' })));
    await pass(59 * minute);
    const run = await runtime.store.runs.last('orders');
    expect(run).toMatchObject({ state: 'failed', attempts: 1 });
    expect(run!.message).toMatch(/; the daily allowance is used up; the next firing is at .*13:00/);
  });
});

describe('jobs with the same unavailable source', () => {
  it("send it one probe at a time, and all read it within one wait after it's available again", async () => {
    const { clock, away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.between(noon, noon + 50 * minute);
    const jobs = Array.from({ length: 100 }, (_, n) => job({ name: `job${n}`, n, cron: '0 12 * * *' }));
    const { runtime, named } = await live({ ...configWith(...jobs), concurrency: 4 });
    await pass(2 * minute);
    // The first attempts are those of the firings.
    expect(named('run.started').filter(({ facts }) => facts.attempt === undefined)).toHaveLength(100);
    const before = away.asked.length;
    expect(before).toBeLessThan(105);
    away.source.most = 0;
    await pass(48 * minute);
    expect(away.source.most).toBe(1);
    expect(away.asked.length - before).toBeLessThan(12);
    await pass(12 * minute);
    expect(clock.now()).toBeGreaterThan(noon + hour);
    const states = (await runtime.store.runs.lasts()).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['delivered']));
    expect(states).toHaveLength(100);
    expect(away.source.most).toBe(4);
  });

  it('all wait as long as the source asks its probe to, and a run fails at once if its limit ends before', async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.fault = (now) => (now < noon + 2 * second ? {} : { retryAfterMs: 20 * minute });
    const cron = '0 12 * * *';
    const { runtime, named } = await live(
      configWith(
        job({ name: 'probing', cron, retry: { ...usual, firstMs: 5 * second } }),
        job({ name: 'short', n: 1, cron, retry: { ...usual, withinMs: 10 * minute } }),
        job({ name: 'usual', n: 2, cron }),
      ),
    );
    await pass(minute + 14 * second);
    expect(away.asked).toHaveLength(4);
    expect(named('run.finished')).toMatchObject([{ facts: { job: 'short', outcome: 'failed' } }]);
    const rows = await runtime.store.retries.all();
    expect(rows.map(({ job: name }) => name).toSorted()).toEqual(['probing', 'usual']);
    expect(rows.map(({ next_at }) => next_at)).toEqual(Array(2).fill(away.asked[3]! + second + 20 * minute));
  });

  it("also run if they don't make up for missed runs, because waiting for a probe doesn't make them late", async () => {
    const { away, job, configWith, live, pass } = await openWorld(noon - minute);
    away.between(noon, noon + minute);
    const schedule = { cron: '0 12 * * *', timezone: 'UTC', misfire: { policy: 'skip' } } as const;
    const probing = job({ name: 'probing', cron: '0 12 * * *', retry: { ...usual, firstMs: 5 * second } });
    const { runtime } = await live(configWith(probing, job({ schedule, n: 1 })));
    await pass(minute + 2 * second);
    away.takesMs = 10 * minute;
    await pass(15 * minute);
    expect(away.asked).toHaveLength(4);
    away.takesMs = second;
    await pass(6 * minute);
    expect(await runtime.store.runs.last('orders')).toMatchObject({ state: 'delivered', attempts: 2 });
  });
});
