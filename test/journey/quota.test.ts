import { describe, expect, it } from 'vitest';
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import { type Home, makeHome } from './home.ts';
import { forTest, makeFolder } from './process.ts';
import { adminKey, makeWorld, type World } from './world.ts';

/** A preload that makes a process see this time as the current time. */
function at(instant: string): { preload: string[]; env: NodeJS.ProcessEnv } {
  return { preload: ['shifted-clock'], env: { CLOCK_SHIFT_MS: String(Date.parse(instant) - Date.now()) } };
}

interface Ages {
  /** An address that stays the same across restarts of the service. */
  readonly proxy: FaultProxy;
  readonly instances: readonly string[];
  /** Restarts the service at this time. */
  live(instant: string, serve?: readonly string[]): Promise<World>;
}

/** A service that is started at several times, with `count` instances that were created long before the first start. */
async function makeAges({ count, requestsPerDay }: { count: number; requestsPerDay: number }): Promise<Ages> {
  const data = await makeFolder();
  const company = { requests_per_day: requestsPerDay, requests_per_second: 1000 };
  const first = await makeWorld({ data, company, serve: ['--no-limits'], ...at('2026-01-05T12:00:00Z') });
  const instances: string[] = [];
  for (let made = 0; made < count; made++) instances.push(await first.instance('csv'));
  const proxy = await openFaultProxy(first.url);
  let alive = first;
  return {
    proxy,
    instances,
    live: async (instant, serve = []) => {
      await alive.stop();
      alive = await makeWorld({ data, company, serve, instances: first.instances, ...at(instant) });
      proxy.aim(alive.url);
      return alive;
    },
  };
}

async function makeJobs({ proxy, instances }: Ages, limits: object = {}): Promise<Home> {
  const home = await makeHome(forTest);
  const jobs: Record<string, object> = {};
  for (const [i, target] of instances.entries()) {
    await home.write(`${i}.csv`, rowsOf(i));
    jobs[`job-${i}`] = { source: 'files', query: `${i}.csv`, format: 'csv', target };
  }
  await home.config({
    destinations: { main: { url: proxy.url, api_key: adminKey, ...limits } },
    sources: { files: { connector: 'file' } },
    jobs,
  });
  return home;
}

const rowsOf = (i: number) => `id,name\n${i},row of ${i}\n`;
const countOf = (states: readonly { state: string }[], wanted: string) =>
  states.filter(({ state }) => state === wanted).length;

async function expectShown({ instances }: Ages, world: World): Promise<void> {
  for (const [i, instance] of instances.entries()) expect(await world.data(instance)).toBe(rowsOf(i));
}

describe('a small daily allowance', () => {
  it('leaves some payloads owed, which the sync reports; only those are sent after midnight', async () => {
    const ages = await makeAges({ count: 6, requestsPerDay: 3 });
    const home = await makeJobs(ages, { requests_per_day: 3 });
    const today = await ages.live('2026-06-10T19:00:00Z');
    const first = await home.sync(at('2026-06-10T19:00:00Z'));
    expect(first.code).toBe(4);
    expect(countOf(first.jobs, 'delivered')).toBe(3);
    const waiting = first.jobs.filter(({ state }) => state === 'waiting_quota');
    expect(waiting).toHaveLength(3);
    for (const { until, requests } of waiting) {
      expect(until).toBe('2026-06-11T04:00:05.000Z');
      expect(requests).toBe(0);
    }
    expect((await today.uploads()).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(countOf(home.state().outbox, 'owed')).toBe(3);

    const table = await home.sluice(['sync'], at('2026-06-10T20:00:00Z'));
    expect(table.code).toBe(4);
    expect(table.stdout).toMatch(/owed: .*daily quota until 2026-06-11 04:00:05Z/);
    expect(ages.proxy.met).toHaveLength(3);
    const owed = home.state().outbox.filter(({ state }) => state === 'owed');
    expect(owed.map(({ job }) => job).sort()).toEqual(waiting.map(({ job }) => job));

    const tomorrow = await ages.live('2026-06-11T04:01:00Z');
    const second = await home.sync(at('2026-06-11T04:01:00Z'));
    expect(second.code).toBe(0);
    expect(second.jobs.map(({ state }) => state).sort()).toEqual([
      ...Array(3).fill('delivered'),
      ...Array(3).fill('unchanged'),
    ]);
    expect((await tomorrow.uploads()).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(home.state().quota.map(({ day, used }) => [day, used])).toEqual([
      ['2026-06-10', 3],
      ['2026-06-11', 3],
    ]);
    await expectShown(ages, await ages.live('2026-06-11T05:00:00Z', ['--no-limits']));
  });

  it('counts as used up once a response says so, and no more requests are sent until midnight', async () => {
    const ages = await makeAges({ count: 8, requestsPerDay: 8 });
    const home = await makeJobs(ages);
    const today = await ages.live('2026-06-10T19:00:00Z');
    for (let call = 0; call < 8; call++) expect((await today.call('GET', '/datasources')).status).toBe(200);
    const first = await home.sync(at('2026-06-10T19:00:00Z'));
    expect(first.code).toBe(4);
    expect(countOf(first.jobs, 'waiting_quota')).toBe(8);
    // After the first response, no request was started; only those already in progress were sent.
    const sent = await today.uploads();
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.length).toBeLessThanOrEqual(5);
    expect(sent.every(({ status }) => status === 429)).toBe(true);
    // The service sends how long to wait. Here, its clock is slightly ahead of ours, as clocks often are.
    const [day, ...others] = home.state().quota;
    expect(others).toEqual([]);
    const midnight = Date.parse('2026-06-11T04:00:00Z');
    expect(day!.spent_until! - midnight).toBeGreaterThan(-60_000);
    expect(day!.spent_until! - midnight).toBeLessThanOrEqual(5_000);

    const again = await home.sync(at('2026-06-10T21:00:00Z'));
    expect(again.code).toBe(4);
    expect(again.jobs.map(({ requests }) => requests)).toEqual(Array(8).fill(0));
    expect(ages.proxy.met).toHaveLength(sent.length);
    expect(countOf(home.state().outbox, 'owed')).toBe(8);

    await ages.live('2026-06-11T04:01:00Z');
    const next = await home.sync(at('2026-06-11T04:01:00Z'));
    expect(next.code).toBe(0);
    expect(countOf(next.jobs, 'delivered')).toBe(8);
    await expectShown(ages, await ages.live('2026-06-11T05:00:00Z', ['--no-limits']));
  });

  it('keeps the configured reserve for commands that users run', async () => {
    const ages = await makeAges({ count: 3, requestsPerDay: 100 });
    const home = await makeJobs(ages, { requests_per_day: 3, reserve_requests: 2 });
    await ages.live('2026-06-10T19:00:00Z');
    const asked = await home.sync(at('2026-06-10T19:00:00Z'));
    expect(asked.code).toBe(0);
    expect(countOf(asked.jobs, 'delivered')).toBe(3);
  });
});

interface OddDay {
  readonly title: string;
  readonly starts: string;
  /** The latest possible time of that day, by the calendar. */
  readonly late: string;
  readonly turns: string;
}

const oddDays: readonly OddDay[] = [
  {
    title: '23 hours, when clocks go forward,',
    starts: '2026-03-08T05:01:00Z',
    late: '2026-03-09T03:50:00Z',
    turns: '2026-03-09T04:01:00Z',
  },
  {
    title: '25 hours, when clocks go back,',
    starts: '2026-11-01T04:01:00Z',
    late: '2026-11-02T04:50:00Z',
    turns: '2026-11-02T05:01:00Z',
  },
];

describe.for(oddDays)('a day of $title', ({ starts, late, turns }) => {
  it('has one allowance from its first to its last minute, and the next day has its own', async () => {
    const ages = await makeAges({ count: 2, requestsPerDay: 1 });
    const home = await makeJobs(ages, { requests_per_day: 1 });
    await ages.live(starts);
    const first = await home.sync(at(starts));
    expect(first.code).toBe(4);
    expect(countOf(first.jobs, 'delivered')).toBe(1);
    expect(first.jobs.find(({ state }) => state === 'waiting_quota')?.until).toBe(turns.replace('1:00Z', '0:05.000Z'));

    await ages.live(late);
    expect((await home.sync(at(late))).code).toBe(4);
    expect(ages.proxy.met).toHaveLength(1);
    // A client that doesn't count its own requests gets the same response from the service.
    const stranger = await makeJobs(ages);
    expect((await stranger.sync(at(late))).code).toBe(4);
    const heard = ages.proxy.met.length;

    await ages.live(turns);
    const next = await home.sync(at(turns));
    expect(next.code).toBe(0);
    expect(next.jobs.map(({ state }) => state).sort()).toEqual(['delivered', 'unchanged']);
    expect(ages.proxy.met).toHaveLength(heard + 1);
    await expectShown(ages, await ages.live(turns, ['--no-limits']));
  });
});
