import { describe, expect, it, onTestFinished } from 'vitest';
import { easternDay } from '../../src/service/limits/eastern-day.ts';
import { SlidingSecond } from '../../src/service/limits/sliding-second.ts';
import { startService } from '../../src/service/service.ts';
import { SteppingClock } from '../clocks.ts';
import fc from '../property.ts';
import { type Answer, Bench, bench, fixtures, keys, scratch } from './service.ts';

const report = '/usage-overview/api-usage?start_date=0&end_date=4000000000';
const shown = (answer: Answer): unknown => answer.body.data.overview;
const codes = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);
const withDay = (requests_per_day: number): object => ({
  companies: [{ ...fixtures.companies[0]!, requests_per_day }, fixtures.companies[1]!],
});

describe('the sliding second', () => {
  it('never allows more than its limit, no matter where the second begins or in which order calls are checked', () => {
    const arrivals = fc.array(fc.double({ min: 0, max: 5000, noNaN: true }), { maxLength: 200 });
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 7 }), (times, most) => {
        const second = new SlidingSecond();
        const passed: number[] = [];
        for (const time of times) {
          if (second.wait('a', time, most) > 0) continue;
          second.take('a', time);
          passed.push(time);
        }
        passed.sort((a, b) => a - b);
        for (let i = most; i < passed.length; i++) expect(passed[i]! - passed[i - most]!).toBeGreaterThanOrEqual(1000);
      }),
    );
  });

  it('never refuses a call unnecessarily, and returns how long to wait', () => {
    const increasing = fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 100 });
    fc.assert(
      fc.property(increasing, (gaps) => {
        const second = new SlidingSecond();
        const passed: number[] = [];
        let time = 0;
        for (const gap of gaps) {
          time += gap;
          const recent = passed.filter((past) => past > time - 1000).length;
          const wait = second.wait('a', time, 5);
          expect(wait > 0).toBe(recent >= 5);
          if (wait > 0) expect(second.wait('a', time + wait, 5)).toBe(0);
          if (wait > 0) expect(second.wait('a', time + wait - 0.5, 5)).toBeGreaterThan(0);
          if (wait > 0) continue;
          second.take('a', time);
          passed.push(time);
        }
      }),
    );
  });
});

describe('five requests in a second', () => {
  it("are allowed, the sixth is refused with the seconds to wait, and refused calls don't count", async () => {
    const clock = new SteppingClock('2026-06-01T12:00:00Z');
    const given = await bench({ limits: true, clock });
    const six = await Promise.all(Array.from({ length: 6 }, () => given.call('GET', '/profile')));
    expect(codes(six).sort()).toEqual([200, 200, 200, 200, 200, 429]);
    const refused = six.find(({ status }) => status === 429)!;
    expect(refused.body.meta.error_code).toBe('rate_limited');
    expect(refused.headers['retry-after']).toBe('1');
    clock.advance(999);
    const early = await given.call('GET', '/profile');
    expect([early.status, early.headers['retry-after']]).toEqual([429, '1']);
    clock.advance(1);
    expect((await given.call('GET', '/profile')).status).toBe(200);
    expect(shown(await given.call('GET', report))).toEqual([
      { calendar_date: '2026-06-01', api_usage: '7', api_limit: '10000' },
    ]);
  });

  it('are allowed per company, including its users and clients', async () => {
    const given = await bench({ limits: true, clock: new SteppingClock('2026-06-01T12:00:00Z') });
    const ours = [keys.acmeAdmin, keys.acmeEditor, keys.acmeViewer, keys.acmeReporter];
    expect(codes(await Promise.all(ours.map((key) => given.call('GET', '/datasources', { key }))))).toEqual([
      200, 200, 200, 200,
    ]);
    expect((await given.call('GET', '/datasources?client_id=bakery')).status).toBe(200);
    expect((await given.call('GET', '/datasources?client_id=bakery')).status).toBe(429);
    for (const key of [keys.otherAdmin, keys.clientAdmin])
      expect((await given.call('GET', '/profile', { key })).status).toBe(200);
  });

  it('include calls that return 401, 404 or 405', async () => {
    const given = await bench({ limits: true, clock: new SteppingClock('2026-06-01T12:00:00Z') });
    const sent = { key: keys.acmeNobody };
    const answers = [
      await given.call('GET', '/datasources', sent),
      await given.call('GET', '/nothing', sent),
      await given.call('PATCH', '/profile', sent),
      await given.call('POST', '/datasources', { ...sent, body: '{' }),
      await given.call('GET', '/profile', sent),
      await given.call('GET', '/profile', sent),
    ];
    expect(codes(answers)).toEqual([401, 404, 405, 401, 200, 429]);
  });

  it('are the most that the request log shows for any second under load', async () => {
    const given = await bench({ limits: true });
    let allowed = 0;
    const hammer = async (): Promise<void> => {
      while (allowed < 16) if ((await given.call('GET', '/profile')).status === 200) allowed += 1;
    };
    await Promise.all(Array.from({ length: 8 }, hammer));
    const passed = given.service.requestLog.entries
      .filter(({ status }) => status === 200)
      .map(({ arrived }) => arrived);
    passed.sort((a, b) => a - b);
    expect(passed.length).toBeGreaterThanOrEqual(16);
    for (let i = 5; i < passed.length; i++) expect(passed[i]! - passed[i - 5]!).toBeGreaterThanOrEqual(1000);
  });

  it('are only the default: a company can have its own limit, and limits can be disabled', async () => {
    const clock = new SteppingClock('2026-06-01T12:00:00Z');
    const given = { companies: [{ ...fixtures.companies[0]!, requests_per_second: 2 }] };
    const limited = await bench({ limits: true, clock, given });
    expect(codes(await Promise.all([1, 2, 3].map(() => limited.call('GET', '/profile')))).sort()).toEqual([
      200, 200, 429,
    ]);
    const free = await bench({ clock, given });
    const all = await Promise.all(Array.from({ length: 30 }, () => free.call('GET', '/profile')));
    expect(new Set(codes(all))).toEqual(new Set([200]));
    expect(shown(await free.call('GET', report))).toMatchObject([{ api_usage: '31' }]);
  });
});

describe('the daily allowance', () => {
  it('runs out with the time to wait, resets at midnight in New York, and is reported for both days', async () => {
    const clock = new SteppingClock('2026-06-02T03:59:00Z');
    const given = await bench({ limits: true, clock, given: withDay(3) });
    for (let i = 0; i < 3; i++) expect((await given.call('GET', '/profile')).status).toBe(200);
    const refused = await given.call('GET', '/profile');
    expect([refused.status, refused.body.meta.error_code, refused.headers['retry-after']]).toEqual([
      429,
      'daily_limit_reached',
      '60',
    ]);
    expect((await given.call('GET', '/profile', { key: keys.otherAdmin })).status).toBe(200);
    clock.advance(60_000);
    expect(shown(await given.call('GET', report))).toEqual([
      { calendar_date: '2026-06-01', api_usage: '3', api_limit: '3' },
      { calendar_date: '2026-06-02', api_usage: '1', api_limit: '3' },
    ]);
  });

  it.each([
    ['23 hours', '2026-03-08', '2026-03-08T05:00:00Z', 23],
    ['25 hours', '2026-11-01', '2026-11-01T04:00:00Z', 25],
    ['24 hours', '2026-11-02', '2026-11-02T05:00:00Z', 24],
  ])('lasts for the whole day of %s', async (_hours, date, start, hours) => {
    const from = Date.parse(start);
    expect(easternDay(from)).toEqual({ date, start: from, end: from + hours * 3_600_000 });
    expect(easternDay(from - 1).end).toBe(from);
    const clock = new SteppingClock(start);
    const given = await bench({ limits: true, clock, given: withDay(1) });
    expect((await given.call('GET', '/profile')).status).toBe(200);
    clock.advance(1_000);
    expect((await given.call('GET', '/profile')).headers['retry-after']).toBe(String(hours * 3600 - 1));
    clock.advance(hours * 3_600_000 - 1_001);
    expect((await given.call('GET', '/profile')).status).toBe(429);
    clock.advance(1);
    expect((await given.call('GET', '/profile')).status).toBe(200);
  });

  it("comes from the plan unless the company has its own, and a client has its company's plan", async () => {
    const given = await bench();
    const limitOf = async (key: string): Promise<unknown> => shown(await given.call('GET', report, { key }));
    expect(await limitOf(keys.acmeAdmin)).toMatchObject([{ api_limit: '10000' }]);
    expect(await limitOf(keys.otherAdmin)).toMatchObject([{ api_limit: '1000' }]);
    expect(await limitOf(keys.clientAdmin)).toMatchObject([{ api_limit: '10000' }]);
  });

  it('continues after a restart', async () => {
    const folder = await scratch();
    const clock = new SteppingClock('2026-06-01T12:00:00Z');
    const first = await bench({ limits: true, clock, given: withDay(2), data: { folder } });
    await first.call('GET', '/profile');
    await first.close();
    const second = new Bench(await startService({ clock, data: { folder } }));
    onTestFinished(() => second.close());
    expect((await second.call('GET', '/profile')).status).toBe(200);
    expect((await second.call('GET', '/profile')).body.meta.error_code).toBe('daily_limit_reached');
  });
});

describe('failed authentication', () => {
  it("is blocked after twenty failures per minute, for keys and passwords alike, and never counts towards a company's limit", async () => {
    const clock = new SteppingClock('2026-06-01T12:00:00Z');
    const given = await bench({ given: fixtures, limits: true, clock });
    const basic = { key: null, headers: { authorization: `Basic ${btoa('admin@acme.test:wrong')}` } };
    for (let i = 0; i < 18; i++) expect((await given.call('GET', '/profile', { key: 'wrong-key' })).status).toBe(401);
    expect((await given.call('GET', '/profile', { key: null })).status).toBe(401);
    expect((await given.call('GET', '/profile', basic)).status).toBe(401);
    for (const sent of [{ key: 'wrong-key' }, { key: null }, basic]) {
      const refused = await given.call('GET', '/profile', sent);
      expect([refused.status, refused.body.meta.error_code, refused.headers['retry-after']]).toEqual([
        429,
        'rate_limited',
        '60',
      ]);
    }
    expect((await given.call('GET', '/profile')).status).toBe(200);
    clock.advance(60_000);
    expect((await given.call('GET', '/profile', { key: 'wrong-key' })).status).toBe(401);
    expect(shown(await given.call('GET', report))).toMatchObject([{ api_usage: '2' }]);
  });

  it("doesn't include attempts with the right password", async () => {
    const given = await bench({ limits: true, clock: new SteppingClock('2026-06-01T12:00:00Z'), given: withDay(1000) });
    const right = { key: null, headers: { authorization: `Basic ${btoa('admin@acme.test:correct horse')}` } };
    for (let i = 0; i < 19; i++) await given.call('GET', '/profile', { key: 'wrong-key' });
    for (let i = 0; i < 3; i++) expect((await given.call('GET', '/profile', right)).status).toBe(200);
  });
});
