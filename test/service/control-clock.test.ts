import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { type Bench, bench, fixtures, keys, until } from './service.ts';

const controlled = (options: Parameters<typeof bench>[0] = {}): Promise<Bench> =>
  bench({ control: {}, tickMs: 3_600_000, ...options });

const set = (given: Bench, now: string, more: object = {}) =>
  given.control('PUT', '/clock', { now, frozen: true, ...more });
const advance = (given: Bench, by: string) => given.control('POST', '/clock/advance', { by });
const nextDay = (given: Bench) => given.control('POST', '/clock/advance', { to: 'next_day' });

const unix = (text: string): number => Date.parse(text) / 1000;
const rows = async (given: Bench, name: string, from: string, to: string): Promise<Record<string, string>[]> => {
  const path = `/usage-overview/${name}?start_date=${unix(from)}&end_date=${unix(to)}`;
  return (await given.call('GET', path)).body.data.overview as Record<string, string>[];
};

describe("the control interface's clock", () => {
  it("shows real time until it's set, and can then be stopped, started, advanced and set back", async () => {
    const given = await controlled();
    expect((await given.control('GET', '/clock')).data).toMatchObject({ frozen: false, ahead_ms: 0 });
    expect((await set(given, '2031-05-05T12:00:00Z')).data).toMatchObject({
      now: '2031-05-05T12:00:00.000Z',
      frozen: true,
      eastern_day: '2031-05-05',
      day_ends: '2031-05-06T04:00:00.000Z',
    });
    await wait(20);
    expect((await given.control('GET', '/clock')).data.now).toBe('2031-05-05T12:00:00.000Z');
    expect((await advance(given, '90s')).data.now).toBe('2031-05-05T12:01:30.000Z');
    expect((await advance(given, 'P1DT1H')).data.now).toBe('2031-05-06T13:01:30.000Z');
    expect((await given.control('PUT', '/clock', { frozen: false })).data.frozen).toBe(false);
    await until(async () => (await given.control('GET', '/clock')).data.now! > '2031-05-06T13:01:30.000Z');
    expect((await given.control('DELETE', '/clock')).data).toMatchObject({ frozen: false, ahead_ms: 0 });
  });

  it('stops at exactly the time it was set to, even if reading the real clock takes a while', async () => {
    const real = systemClock;
    let reads = 0;
    const given = await controlled({ clock: { ...real, now: () => real.now() + reads++ } });
    expect((await set(given, '2031-05-05T12:00:00Z')).data.now).toBe('2031-05-05T12:00:00.000Z');
  });

  it.each([
    ['PUT', '/clock', {}, 'now and frozen'],
    ['PUT', '/clock', { now: 'tomorrow' }, 'must be a time'],
    ['PUT', '/clock', { now: '0001-01-01T00:00:00Z' }, '1970'],
    ['POST', '/clock/advance', {}, 'by and to'],
    ['POST', '/clock/advance', { by: '1d', to: 'next_day' }, 'by and to'],
    ['POST', '/clock/advance', { by: '-PT1H' }, 'duration'],
    ['POST', '/clock/advance', { by: '1 month' }, 'duration'],
    ['POST', '/clock/advance', { by: 'P1M' }, 'duration'],
    ['POST', '/clock/advance', { by: '999999999999d' }, '9999'],
  ])('rejects %s %s with %j and names the allowed values', async (method, path, body, said) => {
    const given = await controlled();
    const { status, data } = await given.control(method, path, body);
    expect([status, (data.error as { message: string }).message]).toEqual([400, expect.stringContaining(said)]);
    expect((await given.control('GET', '/clock')).data.ahead_ms).toBe(0);
  });
});

describe.each([
  ['spring', '2026-03-08', '2026-03-07T15:00:00Z', 23],
  ['autumn', '2026-11-01', '2026-10-31T15:00:00Z', 25],
])('the day of a clock change in %s', (_season, day, before, hours) => {
  it(`has ${hours} hours for the daily limit, and a snapshot of the account at its end`, async () => {
    const company = { ...fixtures.companies[0]!, requests_per_day: 3, requests_per_second: 100 };
    const given = await controlled({ limits: true, given: { companies: [company, fixtures.companies[1]!] } });
    await set(given, before);
    expect((await nextDay(given)).data.eastern_day).toBe(day);
    await given.source();
    await given.call('GET', '/profile');
    await given.call('GET', '/profile');
    const spent = await given.call('GET', '/profile');
    expect([spent.status, Number(spent.headers['retry-after'])]).toEqual([429, hours * 3600]);
    await advance(given, `${hours * 3600 - 1}s`);
    expect((await given.call('GET', '/profile')).headers['retry-after']).toBe('1');
    await advance(given, '1s');
    expect((await given.call('GET', '/profile')).status).toBe(200);
    expect(await rows(given, 'api-usage', before, `${day}T20:00:00Z`)).toMatchObject([
      { calendar_date: day, api_usage: '3', api_limit: '3' },
    ]);
    expect(await rows(given, 'account-stats', before, `${day}T20:00:00Z`)).toMatchObject([
      { calendar_date: before.slice(0, 10), no_of_data_sources: '0' },
      { calendar_date: day, no_of_data_sources: '1' },
    ]);
  });
});

describe('a service whose clock is changed', () => {
  it("repeats a day and takes that day's snapshot again if the clock is set back", async () => {
    const given = await controlled();
    await set(given, '2026-06-01T15:00:00Z');
    await nextDay(given);
    await given.source();
    await set(given, '2026-06-01T15:00:00Z');
    const today = await rows(given, 'account-stats', '2026-06-01T12:00:00Z', '2026-06-01T12:00:00Z');
    expect(today.map((row) => row.no_of_data_sources)).toEqual(['1']);
    await nextDay(given);
    expect(await rows(given, 'account-stats', '2026-06-01T12:00:00Z', '2026-06-01T12:00:00Z')).toMatchObject([
      { calendar_date: '2026-06-01', no_of_data_sources: '1' },
    ]);
  });

  it("ends a trial and locks out the client's users", async () => {
    const given = await controlled();
    await set(given, '2026-06-01T15:00:00Z');
    const made = await given.call('POST', '/clients', { body: { name: 'Mill' } });
    const id = made.body.meta.location!.split('/').at(-1)!;
    const status = async () => (await given.call('GET', `/clients/${id}`)).body.data.status;
    await advance(given, '13d');
    expect(await status()).toBe('trial');
    await advance(given, '1d');
    expect(await status()).toBe('expired');
    await given.control('PUT', '/clock', { now: '2026-06-10T00:00:00Z' });
    expect(await status()).toBe('trial');
    await nextDay(given);
    const trend = await rows(given, 'monthly-client-aggregate', '2026-06-10T00:00:00Z', '2026-06-10T00:00:00Z');
    expect(trend).toHaveLength(1);
  });

  it('runs a refresh each time its interval has passed, and never earlier, even if the clock is set back', async () => {
    let pulls = 0;
    const pull = async function* () {
      pulls += 1;
      yield Buffer.from(`[${pulls}]`);
    };
    const given = await controlled({ pull });
    await set(given, '2026-06-01T15:00:00Z');
    const id = await given.source({ refresh_interval: 3600 });
    const pulled = (n: number) =>
      until(async () => (await given.call('GET', `/datasources/${id}/data`)).status !== 500 && pulls === n);
    const settled = async (): Promise<void> => {
      await given.control('GET', '/requests');
      await wait(20);
    };
    await advance(given, '59m');
    await settled();
    expect(pulls).toBe(0);
    await advance(given, '1m');
    await pulled(1);
    await advance(given, '5h');
    await pulled(2);
    await until(
      async () =>
        (await given.call('GET', `/datasources/${id}`)).body.data.date_last_refresh === '2026-06-01T21:00:00Z',
    );
    await set(given, '2026-01-01T00:00:00Z');
    await settled();
    expect(pulls).toBe(2);
    await advance(given, '1h');
    await pulled(3);
  });

  it("frees a second's slots if the clock is advanced, even while the clock is stopped", async () => {
    const given = await controlled({ limits: true });
    await given.control('PUT', '/clock', { frozen: true });
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await given.call('GET', '/profile')).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    await advance(given, '1s');
    expect((await given.call('GET', '/profile')).status).toBe(200);
    expect((await given.call('GET', '/profile', { key: keys.otherAdmin })).status).toBe(200);
  });

  it("uses that clock's time for creations, uploads and log entries", async () => {
    const given = await controlled();
    await set(given, '2027-07-07T07:07:07Z');
    const id = await given.source();
    await given.call('PUT', `/datasources/${id}/data`, { body: '[]' });
    const at = '2027-07-07T07:07:07Z';
    expect((await given.call('GET', `/datasources/${id}`)).body.data).toMatchObject({
      date_created: at,
      date_last_refresh: at,
    });
    expect((await given.control('GET', '/requests?limit=1')).data).toMatchObject({
      requests: [{ time: '2027-07-07T07:07:07.000Z' }],
    });
  });
});
