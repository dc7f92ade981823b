import { afterEach, describe, expect, it } from 'vitest';
import { Gateway } from '../../src/delivery/gateway.ts';
import { closing, dayOf, daysOf, limitOf, resumeAfter, startOfDay, untilMidnight } from '../../src/delivery/quota.ts';
import { HttpAgent } from '../../src/lib/http.ts';
import { SteppingClock } from '../clocks.ts';
import fc, { runsOf } from '../property.ts';
import { isOnServer } from '../state/engines.ts';
import { cleanUp, newFolder, newStore, Population } from '../state/fixtures.ts';
import { destinationAt } from './fixtures.ts';

afterEach(cleanUp);

const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds;
const hour = 3_600_000;

describe("the service's day", () => {
  it('starts at midnight in New York, in summer and in winter', () => {
    expect(dayOf(at('2026-07-01T03:59:59.999Z'))).toBe('2026-06-30');
    expect(dayOf(at('2026-07-01T04:00:00Z'))).toBe('2026-07-01');
    expect(dayOf(at('2026-12-01T04:59:59.999Z'))).toBe('2026-11-30');
    expect(dayOf(at('2026-12-01T05:00:00Z'))).toBe('2026-12-01');
  });

  it('has 23 hours if the clocks go forward and 25 if they go back', () => {
    expect(untilMidnight(at('2026-03-08T05:00:00Z'))).toBe(23 * hour);
    expect(untilMidnight(at('2026-11-01T04:00:00Z'))).toBe(25 * hour);
    expect(untilMidnight(at('2026-06-01T04:00:00Z'))).toBe(24 * hour);
    expect(untilMidnight(at('2026-11-01T06:30:00Z'))).toBe(22.5 * hour);
  });

  it('counts as two days around midnight, because clocks may differ', () => {
    expect(daysOf(at('2026-07-01T03:59:50Z'))).toEqual(['2026-06-30']);
    expect(daysOf(at('2026-07-01T03:59:58Z'))).toEqual(['2026-06-30', '2026-07-01']);
    expect(daysOf(at('2026-07-01T04:00:03Z'))).toEqual(['2026-06-30', '2026-07-01']);
    expect(daysOf(resumeAfter('2026-06-30'))).toEqual(['2026-07-01']);
  });

  it('includes the next day for a request that may arrive after midnight', () => {
    const before = at('2026-07-01T03:59:24Z');
    expect(daysOf(before, 30_000)).toEqual(['2026-06-30']);
    expect(daysOf(before + 1000, 30_000)).toEqual(['2026-06-30', '2026-07-01']);
  });

  it('begins and ends at the same midnights, regardless of which day is requested first', () => {
    const days = ['2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'].map(
      at,
    );
    for (const order of [days, days.toReversed(), days]) {
      for (const start of order) {
        expect([startOfDay(start), startOfDay(start - 1)]).toEqual([
          start,
          expect.toSatisfy((it: number) => it < start),
        ]);
        expect(startOfDay(start + 22 * hour)).toBe(start);
      }
    }
  });

  it('has the lower of two limits, and keeps part of it in reserve for manual requests', () => {
    const limits = (allowance: number | undefined, reserveRequests = 10) => {
      const given = { requestsPerDay: 100, reserveRequests };
      return (['schedule', 'person'] as const).map((priority) => limitOf(given, priority, { allowance }));
    };
    expect(limits(undefined)).toEqual([90, 100]);
    expect(limits(200)).toEqual([90, 100]);
    expect(limits(50)).toEqual([40, 50]);
    expect(limits(50, 60)).toEqual([0, 50]);
  });

  it("is closed until midnight, or until the service's reset time if our clock is far off", () => {
    const now = at('2026-07-01T12:00:00Z');
    expect(closing(now, undefined)).toEqual({ day: '2026-07-01', until: at('2026-07-02T04:00:05Z') });
    expect(closing(now, 30 * hour)).toEqual({ day: '2026-07-01', until: at('2026-07-02T04:00:05Z') });
    const fast = at('2026-07-01T04:10:00Z');
    expect(closing(fast, 600_000)).toEqual({ day: '2026-07-01', until: fast + 605_000 });
    expect(closing(at('2026-07-01T04:00:02Z'), 2_000).day).toBe('2026-06-30');
  });
});

describe('the daily count', () => {
  it('is shared by all processes, survives restarts, and is separate per account and day', async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const a = await newStore({ clock, folder });
    const b = await newStore({ clock, folder });
    expect(await a.quota.take('x', ['d1'], 2)).toBeUndefined();
    expect(await b.quota.take('x', ['d1'], 2)).toBeUndefined();
    expect(await a.quota.take('x', ['d1'], 2)).toBe('d1');
    expect(await a.quota.take('y', ['d1'], 2)).toBeUndefined();
    await Promise.all([a.close(), b.close()]);
    const c = await newStore({ clock, folder });
    expect(await c.quota.take('x', ['d1'], 2)).toBe('d1');
    expect(await c.quota.take('x', ['d2'], 2)).toBeUndefined();
  });

  it('is charged on both days around midnight, or on neither', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await store.quota.take('x', ['d2'], 1);
    expect(await store.quota.take('x', ['d1', 'd2'], 1)).toBe('d2');
    expect(await store.quota.use('x', 'd1')).toMatchObject({ used: 0 });
  });

  it('allows no requests if the allowance is zero', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    expect(await store.quota.take('x', ['d1'], 0)).toBe('d1');
    expect(await store.quota.take('x', ['d1'], -5)).toBe('d1');
  });

  it("is exhausted until midnight if the service says so; setting the clock back doesn't extend that", async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await store.quota.close('x', 'd1', clock.now() + 1_000);
    expect(await store.quota.take('x', ['d1'], 100)).toBe('d1');
    clock.wall -= 86_400_000;
    expect(await store.quota.take('x', ['d1'], 100)).toBeUndefined();
    clock.wall += 86_400_000 + 1_000;
    expect(await store.quota.take('x', ['d1'], 100)).toBeUndefined();
  });

  it("never exceeds the service's daily allowance, regardless of when the requests arrive", async () => {
    const start = at('2026-10-31T22:00:00Z');
    const step = fc.record({ wait: fc.nat(5 * hour), travel: fc.nat(3_000), latency: fc.nat(60_000) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.integer({ min: -4_900, max: 4_900 }),
        async (steps, skew) => {
          const clock = new SteppingClock(start);
          const store = await newStore({ clock });
          const counted = new Map<string, number>();
          for (const { wait, travel, latency } of steps) {
            clock.advance(wait % 7 === 0 ? wait : wait % 90_000);
            const days = daysOf(clock.now());
            if ((await store.quota.take('x', days, 4)) !== undefined) continue;
            clock.advance(travel);
            const there = dayOf(clock.now() + skew);
            counted.set(there, (counted.get(there) ?? 0) + 1);
            clock.advance(latency);
            for (const day of daysOf(clock.now())) if (!days.includes(day)) await store.quota.charge('x', day);
          }
          for (const [day, count] of counted) expect(count, day).toBeLessThanOrEqual(4);
          await store.close();
        },
      ),
      { numRuns: runsOf(isOnServer() ? 3 : 40) },
    );
  });

  it('includes a request of a dead process on the next day if it may arrive then', async () => {
    const clock = new SteppingClock(at('2026-07-01T03:59:20Z'));
    const folder = newFolder();
    const people = new Population();
    const dead = await newStore({ clock, folder, processes: people.member('a') });
    await dead.sendSlots.take('account', 5, ['2026-06-30']);
    people.dead.add('a');
    const store = await newStore({ clock, folder, processes: people.member('b') });
    const destination = destinationAt('http://127.0.0.1:9');
    const gateway = new Gateway({ store, destinations: [destination], clock, emit: () => undefined });
    clock.advance(10_000);
    await gateway.of(destination).closed('schedule');
    expect(await store.quota.use('account', '2026-07-01')).toMatchObject({ used: 1 });
    expect(await store.quota.use('account', '2026-06-30'), 'it was charged to this day').toMatchObject({ used: 0 });
  });

  it('never exceeds the allowance, even if requests arrive after they were abandoned or their process died', async () => {
    const step = fc.record({
      wait: fc.nat(12_000),
      travel: fc.nat(29_999),
      ends: fc.constantFrom('answered', 'closed', 'silent', 'killed'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 25 }),
        fc.integer({ min: -4_900, max: 4_900 }),
        async (steps, skew) => {
          const clock = new SteppingClock(at('2026-11-01T03:58:30Z'));
          const folder = newFolder();
          const people = new Population();
          let isClosed: Promise<boolean> | undefined;
          class StubAgent extends HttpAgent {
            override closing = () => isClosed;
          }
          const network = { agentFor: () => new StubAgent({ connectTimeoutMs: 1 }), random: () => 0 };
          const destination = destinationAt('http://127.0.0.1:9', { requestsPerDay: 6 });
          let members = 0;
          const open = async () => {
            const store = await newStore({ clock, folder, processes: people.member(`process-${++members}`) });
            const gateway = new Gateway({ store, destinations: [destination], clock, emit: () => undefined, network });
            return { self: store.processes.self, gate: gateway.of(destination) };
          };
          let member = await open();
          const counted = new Map<string, number>();
          for (const { wait, travel, ends } of steps) {
            clock.advance(wait);
            const sent = Promise.withResolvers<void>();
            const passed = member.gate.send({
              method: 'PUT',
              path: '/',
              priority: 'schedule',
              prepare: async () => true,
              send: async () => {
                const there = dayOf(clock.now() + travel + skew);
                counted.set(there, (counted.get(there) ?? 0) + 1);
                sent.resolve();
                if (ends === 'killed') await new Promise(() => undefined);
                if (ends !== 'silent') clock.advance(travel);
                isClosed = ends === 'answered' ? undefined : Promise.resolve(ends === 'closed');
                return { error: new Error('gone') };
              },
            });
            await Promise.race([passed, sent.promise]);
            if (ends !== 'killed') await passed;
            else {
              people.dead.add(member.self);
              member = await open();
            }
          }
          for (const [day, count] of counted) expect(count, day).toBeLessThanOrEqual(6);
          await cleanUp();
        },
      ),
      { numRuns: runsOf(isOnServer() ? 3 : 30) },
    );
  });
});
