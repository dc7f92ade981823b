import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Line } from '../../src/delivery/pacing.ts';
import { cleanUp, newFolder, newStore, Population, VirtualClock } from '../state/fixtures.ts';
import { mostInASecond } from './fixtures.ts';

afterEach(cleanUp);

describe('send slots', () => {
  it('come free a second after the answer, not after the sending', async () => {
    const clock = new VirtualClock();
    const store = await newStore({ clock });
    const ticket = await store.sends.take('x', 1);
    if (!('ticket' in ticket)) throw new Error('none');
    clock.advance(60_000);
    expect(await store.sends.take('x', 1)).toEqual({ freeInMs: undefined });
    await store.sends.release(ticket);
    clock.advance(1_000);
    expect(await store.sends.take('x', 1)).toEqual({ freeInMs: 12 });
    clock.advance(12);
    expect(await store.sends.take('x', 1)).toHaveProperty('ticket');
  });

  it('care nothing for the wall clock', async () => {
    const clock = new VirtualClock();
    const store = await newStore({ clock });
    const ticket = await store.sends.take('x', 1);
    if (!('ticket' in ticket)) throw new Error('none');
    clock.wall += 86_400_000;
    await store.sends.release(ticket);
    expect(await store.sends.take('x', 1)).toEqual({ freeInMs: 1_012 });
    clock.wall -= 2 * 86_400_000;
    clock.ticks += 1_012;
    expect(await store.sends.take('x', 1)).toHaveProperty('ticket');
  });

  it('of a process that died rest from the moment that is noticed, and are free then', async () => {
    const folder = newFolder();
    const clock = new VirtualClock();
    const people = new Population();
    const a = await newStore({ clock, folder, processes: people.member('a') });
    const b = await newStore({ clock, folder, processes: people.member('b') });
    const ticket = await a.sends.take('x', 1);
    clock.advance(10_000);
    people.dead.add('a');
    expect(await b.sends.take('x', 1)).toEqual({ freeInMs: 1_012 });
    clock.advance(1_012);
    const mine = await b.sends.take('x', 1);
    expect(mine).toHaveProperty('ticket');
    if ('ticket' in ticket) await a.sends.release(ticket);
    expect(await b.sends.underway('x'), 'a release of the dead frees nobody').toBe(1);
  });

  it('from before a reboot rest once, whatever the new monotonic clock says', async () => {
    const folder = newFolder();
    const clock = new VirtualClock();
    const people = new Population();
    const a = await newStore({ clock, folder, processes: people.member('a', 'boot-1') });
    await a.sends.take('x', 1);
    const released = await a.sends.take('y', 1);
    if ('ticket' in released) await a.sends.release(released);
    people.dead.add('a');
    clock.ticks = 5;
    const b = await newStore({ clock, folder, processes: people.member('b', 'boot-2') });
    for (const account of ['x', 'y']) {
      expect(await b.sends.take(account, 1)).toEqual({ freeInMs: 1_012 });
      clock.advance(1_012);
      expect(await b.sends.take(account, 1)).toHaveProperty('ticket');
    }
  });

  it('are fewer at once when the limit is lowered, counting those already taken', async () => {
    const store = await newStore({ clock: new VirtualClock() });
    for (let taken = 0; taken < 4; taken++) expect(await store.sends.take('x', 5)).toHaveProperty('ticket');
    expect(await store.sends.take('x', 2)).toEqual({ freeInMs: undefined });
    expect(await store.sends.take('x', 5)).toHaveProperty('ticket');
    expect(await store.sends.take('x', 5)).toEqual({ freeInMs: undefined });
  });

  it('let no sliding second see more than its number, whatever travel times, answers, deaths and clocks do', async () => {
    const request = fc.record({
      gap: fc.constantFrom(0, 1, 7, 190, 200, 950, 1_012),
      travel: fc.constantFrom(0, 0, 0, 1, 40, 1_500),
      back: fc.constantFrom(0, 0, 0, 1, 40, 1_500),
      who: fc.nat(2),
      dies: fc.boolean(),
      jump: fc.constantFrom(0, 0, 0, 86_400_000, -86_400_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 10, maxLength: 60 }), async (requests) => {
        const clock = new VirtualClock();
        const folder = newFolder();
        const people = new Population();
        const stores = [];
        for (const name of ['a', 'b', 'c']) {
          stores.push(await newStore({ clock, folder, processes: people.member(name) }));
        }
        const arrivals: number[] = [];
        const pending: { at: number; end: () => Promise<void> }[] = [];
        const settle = async () => {
          for (const due of pending.filter(({ at }) => at <= clock.ticks)) {
            pending.splice(pending.indexOf(due), 1);
            await due.end();
          }
        };
        for (const { gap, travel, back, who, dies, jump } of requests) {
          clock.advance(gap);
          clock.wall += jump;
          await settle();
          const store = stores[who];
          if (store === undefined || people.dead.has(store.processes.self)) continue;
          const ticket = await store.sends.take('x', 5);
          if (!('ticket' in ticket)) continue;
          const arrival = clock.ticks + travel;
          // What a killed process had under way is with the receiver or nowhere.
          const diesNow = dies && who > 0 && people.dead.size < 2;
          arrivals.push(diesNow ? clock.ticks : arrival);
          if (diesNow) people.dead.add(store.processes.self);
          else pending.push({ at: arrival + back, end: () => store.sends.release(ticket) });
        }
        expect(mostInASecond(arrivals)).toBeLessThanOrEqual(5);
        for (const store of stores) await store.close();
      }),
      { numRuns: 80 },
    );
  });
});

describe('the line', () => {
  it('lets people go first, keeps the order otherwise, and does not spin while it waits', async () => {
    const clock = new VirtualClock();
    const store = await newStore({ clock });
    const line = new Line(clock);
    let asked = 0;
    const order: string[] = [];
    const go = async (name: string, priority: 'person' | 'schedule') => {
      const take = async () => {
        asked += 1;
        const ticket = await store.sends.take('x', 1);
        return 'ticket' in ticket ? { ticket } : ticket;
      };
      const { ticket } = await line.enter(take, { priority });
      order.push(name);
      await store.sends.release(ticket);
    };
    await Promise.all([
      go('s1', 'schedule'),
      go('s2', 'schedule'),
      go('s3', 'schedule'),
      go('p1', 'person'),
      go('p2', 'person'),
    ]);
    expect(order).toEqual(['s1', 'p1', 'p2', 's2', 's3']);
    expect(asked).toBeLessThan(40);
  });

  it('lets go of one who has given up, and serves the next', async () => {
    const clock = new VirtualClock();
    const line = new Line(clock);
    const giveUp = new AbortController();
    const never = line.enter(async () => ({ freeInMs: undefined }), { priority: 'person', signal: giveUp.signal });
    const behind = line.enter(async () => ({ freeInMs: undefined }), { priority: 'person', signal: giveUp.signal });
    const ticket = { account: 'x', slot: 0, ticket: 't' };
    const next = line.enter(async () => ({ ticket }), { priority: 'schedule' });
    giveUp.abort();
    await expect(never).rejects.toThrow();
    await expect(behind).rejects.toThrow();
    expect(await next).toEqual({ ticket });
  });
});
