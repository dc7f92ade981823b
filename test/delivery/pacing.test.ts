import { afterEach, describe, expect, it } from 'vitest';
import { SendQueue } from '../../src/delivery/send-queue.ts';
import type { SlotTicket } from '../../src/state/quota/send-slots.ts';
import type { Store } from '../../src/state/store.ts';
import { SteppingClock } from '../clocks.ts';
import fc, { runsOf } from '../property.ts';
import { isOnServer } from '../state/engines.ts';
import { cleanUp, newFolder, newStore, Population } from '../state/fixtures.ts';
import { maxInASecond } from './fixtures.ts';

afterEach(cleanUp);

async function take(store: Store, account = 'x'): Promise<SlotTicket> {
  const ticket = await store.sendSlots.take(account, 1);
  if (!('ticket' in ticket)) throw new Error('no slot is free');
  return ticket;
}

describe('send slots', () => {
  it('are released a second after the response, not after the request', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const ticket = await take(store);
    clock.advance(60_000);
    expect(await store.sendSlots.take('x', 1)).toMatchObject({ freeInMs: undefined });
    await store.sendSlots.release(ticket);
    clock.advance(1_000);
    expect(await store.sendSlots.take('x', 1)).toEqual({ freeInMs: 12 });
    clock.advance(12);
    expect(await store.sendSlots.take('x', 1)).toHaveProperty('ticket');
  });

  it("don't depend on the wall clock", async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const ticket = await take(store);
    clock.wall += 86_400_000;
    await store.sendSlots.release(ticket);
    expect(await store.sendSlots.take('x', 1)).toEqual({ freeInMs: 1_012 });
    clock.wall -= 2 * 86_400_000;
    clock.ticks += 1_012;
    expect(await store.sendSlots.take('x', 1)).toHaveProperty('ticket');
  });

  it('of an abandoned request stay taken until it can no longer arrive', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const ticket = await take(store);
    await store.sendSlots.abandon(ticket, []);
    clock.advance(30_000);
    expect(await store.sendSlots.take('x', 1), 'it may have arrived as late as now').toEqual({ freeInMs: 1_012 });
    clock.advance(1_012);
    expect(await store.sendSlots.take('x', 1)).toHaveProperty('ticket');
    await store.sendSlots.release(ticket);
    expect(await store.sendSlots.underway('x'), 'the next request keeps the slot').toBe(1);
  });

  it('of an abandoned request stay taken for a second after the other side has closed the connection', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const ticket = await take(store);
    await store.sendSlots.abandon(ticket, []);
    clock.advance(3_000);
    expect(await store.sendSlots.take('x', 1), 'it may end at any time').toMatchObject({ freeInMs: undefined });
    await store.sendSlots.release(ticket);
    expect(await store.sendSlots.take('x', 1)).toEqual({ freeInMs: 1_012 });
    clock.advance(1_012);
    expect(await store.sendSlots.take('x', 1)).toHaveProperty('ticket');
  });

  it('of a dead process stay taken until its request can no longer arrive, and are then released', async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const people = new Population();
    const a = await newStore({ clock, folder, processes: people.member('a') });
    const b = await newStore({ clock, folder, processes: people.member('b') });
    const ticket = await take(a);
    clock.advance(10_000);
    people.dead.add('a');
    expect(await b.sendSlots.take('x', 1)).toMatchObject({ freeInMs: undefined });
    clock.advance(30_000);
    expect(await b.sendSlots.take('x', 1)).toEqual({ freeInMs: 1_012 });
    clock.advance(1_012);
    expect(await b.sendSlots.take('x', 1)).toHaveProperty('ticket');
    await a.sendSlots.release(ticket);
    expect(await b.sendSlots.underway('x'), 'a release by the dead process frees nothing').toBe(1);
  });

  it('of a process that died long ago are released as soon as they would be after a response', async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const people = new Population();
    const a = await newStore({ clock, folder, processes: people.member('a') });
    await take(a);
    people.dead.add('a');
    clock.advance(45_000);
    const b = await newStore({ clock, folder, processes: people.member('b') });
    expect(await b.sendSlots.take('x', 1)).toEqual({ freeInMs: 1_012 });
  });

  it('from before a reboot stay taken while their requests may be in transit, regardless of the new monotonic clock', async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const people = new Population();
    const a = await newStore({ clock, folder, processes: people.member('a', 'boot-1') });
    await take(a, 'under way');
    await a.sendSlots.abandon(await take(a, 'given up'), []);
    await a.sendSlots.release(await take(a, 'answered'));
    people.dead.add('a');
    clock.ticks = 5;
    const b = await newStore({ clock, folder, processes: people.member('b', 'boot-2') });
    expect(await b.sendSlots.take('answered', 1)).toEqual({ freeInMs: 1_012 });
    for (const account of ['under way', 'given up']) {
      expect(await b.sendSlots.take(account, 1)).toMatchObject({ freeInMs: undefined });
    }
    clock.advance(30_000);
    expect(await b.sendSlots.take('answered', 1)).toHaveProperty('ticket');
    for (const account of ['under way', 'given up']) {
      expect(await b.sendSlots.take(account, 1)).toEqual({ freeInMs: 1_012 });
    }
    clock.advance(1_012);
    for (const account of ['under way', 'given up']) {
      expect(await b.sendSlots.take(account, 1)).toHaveProperty('ticket');
    }
  });

  it("in use count for a day only if their request wasn't charged to it", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await store.sendSlots.take('x', 5, ['d1']);
    await store.sendSlots.take('x', 5, ['d1', 'd2']);
    const ended = await store.sendSlots.take('x', 5, []);
    const seen = async () => {
      const slots = await store.sendSlots.look('x', []);
      return [slots.underway(), slots.underway('d1'), slots.underway('d2'), slots.underway('d3')];
    };
    expect(await seen()).toEqual([3, 1, 2, 3]);
    if ('ticket' in ended) await store.sendSlots.release(ended);
    expect(await seen()).toEqual([2, 0, 1, 2]);
  });

  it('are reduced immediately, including those already taken, if the limit is lowered', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    for (let taken = 0; taken < 4; taken++) expect(await store.sendSlots.take('x', 5)).toHaveProperty('ticket');
    expect(await store.sendSlots.take('x', 2)).toMatchObject({ freeInMs: undefined });
    expect(await store.sendSlots.take('x', 5)).toHaveProperty('ticket');
    expect(await store.sendSlots.take('x', 5)).toMatchObject({ freeInMs: undefined });
  });

  it('can be taken in advance, but not used before they are free', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const takeAhead = async (perSecond: number, leadMs: number) => {
      const slots = await store.sendSlots.look('x', []);
      return store.sendSlots.takeOf(slots, { account: 'x', perSecond, days: [], leadMs });
    };
    const tickets: SlotTicket[] = [];
    for (let sent = 0; sent < 3; sent++) {
      tickets.push((await store.sendSlots.take('x', 3)) as SlotTicket);
      await store.sendSlots.release(tickets[sent]!);
      clock.advance(100);
    }
    const free = clock.monotonic() - 300 + 1_012;
    expect(await takeAhead(3, 500)).toEqual({ freeInMs: 212 });
    expect(await takeAhead(1, 912), 'all three must be free first').toHaveProperty('startsAt', free + 200);
    expect(await takeAhead(3, 711), 'one of two').toEqual({ freeInMs: 101 });
    expect(await takeAhead(3, 812)).toMatchObject({ slot: 1, startsAt: free + 100 });
  });

  it('never exceed the limit in any sliding second, despite delays, stalls, crashes and clock changes', async () => {
    const request = fc.record({
      gap: fc.constantFrom(0, 1, 7, 190, 200, 950, 1_012, 5_000),
      travel: fc.constantFrom(0, 0, 1, 40, 1_500),
      // While the service stalls, requests stay in transit; when it continues, they all arrive at once.
      stalls: fc.boolean(),
      back: fc.constantFrom(0, 0, 0, 1, 40, 1_500),
      who: fc.nat(2),
      // After a request was given up, the other side closes its connection: either after the request arrived or without
      // ever having seen it.
      ends: fc.constantFrom('answered', 'answered', 'given up', 'given up unseen', 'killed', 'rebooted'),
      jump: fc.constantFrom(0, 0, 0, 86_400_000, -86_400_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 10, maxLength: 60 }), async (requests) => {
        const clock = new SteppingClock();
        const folder = newFolder();
        const people = new Population();
        let boots = 0;
        let members = 0;
        const open = () => newStore({ clock, folder, processes: people.member(`p${++members}`, `boot-${boots}`) });
        const stores = [await open(), await open(), await open()];
        const replace = async (who: number) => {
          people.dead.add((stores[who] as Store).processes.self);
          stores[who] = await open();
        };
        /** On a clock that isn't reset by a reboot. */
        let before = 0;
        const now = () => clock.ticks + before;
        const arrivals: number[] = [];
        const underway: { readonly sentAt: number; at: number; readonly after: () => void }[] = [];
        const ends: { readonly at: number; readonly owner: string; readonly end: () => Promise<void> }[] = [];
        const settle = async () => {
          for (const one of underway.filter(({ at }) => at <= now())) {
            underway.splice(underway.indexOf(one), 1);
            arrivals.push(one.at);
            one.after();
          }
          for (const due of ends.filter(({ at }) => at <= now())) {
            ends.splice(ends.indexOf(due), 1);
            if (!people.dead.has(due.owner)) await due.end();
          }
        };
        const pass = async (milliseconds: number) => {
          clock.advance(milliseconds);
          await settle();
        };
        const longest = 29_999;
        for (const { gap, travel, stalls, back, who, ends: how, jump } of requests) {
          await pass(gap);
          clock.wall += jump;
          // When the oldest request can't wait any longer, everything arrives together with it.
          const isLate = underway.some(({ sentAt }) => now() - sentAt > longest - 6_000);
          if (!stalls || isLate) for (const one of underway) one.at = Math.min(one.at, now() + travel);
          const { sendSlots, processes } = stores[who] as Store;
          const ticket = await sendSlots.take('x', 5);
          if (!('ticket' in ticket)) continue;
          const end = () => sendSlots.release(ticket);
          const isSeen = how === 'answered' || how === 'given up';
          const at = stalls ? now() + longest : now() + travel;
          const after = () => void (isSeen && ends.push({ at: now() + back, owner: processes.self, end }));
          underway.push({ sentAt: now(), at, after });
          if (how === 'killed') await replace(who);
          else if (how === 'rebooted') {
            before += clock.ticks;
            clock.ticks = 0;
            boots += 1;
            for (const each of stores.keys()) await replace(each);
          } else if (how !== 'answered') await sendSlots.abandon(ticket, []);
          await settle();
        }
        await pass(longest);
        expect(maxInASecond(arrivals)).toBeLessThanOrEqual(5);
        await cleanUp();
      }),
      { numRuns: runsOf(isOnServer() ? 4 : 80) },
    );
  });
});

describe('the queue', () => {
  it('serves users first and other callers in order, without busy-waiting', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const line = new SendQueue(clock);
    let asked = 0;
    const order: string[] = [];
    const go = async (name: string, priority: 'person' | 'schedule') => {
      const take = async () => {
        asked += 1;
        const ticket = await store.sendSlots.take('x', 1);
        return 'ticket' in ticket ? { ticket } : ticket;
      };
      const { ticket } = await line.acquire(take, { priority });
      order.push(name);
      await store.sendSlots.release(ticket);
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

  it('drops a caller that has given up, and serves the next one', async () => {
    const clock = new SteppingClock();
    const line = new SendQueue(clock);
    const giveUp = new AbortController();
    const never = line.acquire(async () => ({ freeInMs: undefined }), { priority: 'person', signal: giveUp.signal });
    const behind = line.acquire(async () => ({ freeInMs: undefined }), { priority: 'person', signal: giveUp.signal });
    const ticket = { account: 'x', slot: 0, ticket: 't', days: [] };
    const next = line.acquire(async () => ({ ticket }), { priority: 'schedule' });
    giveUp.abort();
    await expect(never).rejects.toThrow();
    await expect(behind).rejects.toThrow();
    expect(await next).toEqual({ ticket });
  });
});
