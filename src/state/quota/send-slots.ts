import { newId } from '../../lib/ids.ts';
import { inTransaction, inTransactionOn, Repository, type StoreContext } from '../engine/context.ts';
import { accountLock } from '../engine/lock-keys.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import { ProcessHeartbeats } from '../processes/heartbeats.ts';
import { chargeSlot, freeSlot, maxTravelMs, restAfter, restMs } from './slot-rest.ts';
import { isBusy, isStray, lowestFree, type Slot, SlotSnapshot, slotsOf } from './slot-snapshot.ts';

/**
 * How long it may take to send a request after its slot was taken. Connecting takes up to 10 s, and the event loop may
 * be busy.
 */
const maxStartMs = 15_000;

/** The right to send one request now. After the request, call `release` or, if there was no response, `abandon`. */
export interface SlotTicket {
  readonly account: string;
  readonly slot: number;
  readonly ticket: string;
  /** The days to which the request was charged. */
  readonly days: readonly string[];
  /** When the request may be sent, in monotonic milliseconds. If absent, it may be sent now. */
  readonly startsAt?: number;
}

/**
 * The result if no slot is free. Try again after `freeInMs`. If that's undefined, try again when a request in flight
 * has received its response or can no longer arrive.
 */
export interface NoFreeSlot {
  readonly freeInMs: number | undefined;
  /** Set if all slots are resting because their requests got no response: the time until the first slot is free. */
  readonly restsForMs?: number;
}

/**
 * Sliding-window rate limiter. The number of an account's slots is the number of requests that may arrive per second.
 * All processes that use the state folder share the slots. Times are measured with the monotonic clock, so changes of
 * the wall clock have no effect.
 */
export class SendSlots extends Repository {
  /** Takes a slot of the account if one is free. `days` are the days to which the caller will charge the request. */
  take(account: string, perSecond: number, days: readonly string[] = []): Promise<SlotTicket | NoFreeSlot> {
    return inTransactionOn(this.context, [accountLock(account)], async (inside) => {
      const sends = new SendSlots(inside);
      return sends.takeOf(await sends.look(account, days), { account, perSecond, days });
    });
  }

  /**
   * Like {@link take}, but for callers that have already read a snapshot in the same transaction. If no slot is free,
   * takes one that will be free within `leadMs`. The caller must then wait until the ticket's `startsAt`.
   */
  async takeOf(
    { rows }: SlotSnapshot,
    given: { account: string; perSecond: number; days: readonly string[]; leadMs?: number },
  ): Promise<SlotTicket | NoFreeSlot> {
    const { account, perSecond, days, leadMs = 0 } = given;
    const now = this.context.clock.monotonic();
    const busy = rows.filter((row) => isBusy(row, now));
    const surplus = Math.max(0, busy.length - perSecond + 1);
    const soon = firstFree(busy, surplus).filter(({ free_at }) => free_at <= now + leadMs);
    if (soon.length < surplus) return soonest(busy, { now, leadMs });
    const slot = lowestFree(busy.filter((row) => !soon.some((one) => one.slot === row.slot)));
    const seen = rows.find((row) => row.slot === slot)?.ticket;
    const ticket = await occupy(this.context, { account, slot, seen, days });
    if (ticket === undefined) return { freeInMs: 0 };
    const last = soon.at(-1);
    return last === undefined ? ticket : { ...ticket, startsAt: last.free_at };
  }

  /**
   * Releases a slot whose request has arrived (maybe just now) or can no longer arrive. The slot rests before it's
   * free. If the request wasn't charged to all of `days`, the current days, charges it to the missing ones. Retries
   * while the disk rejects writes, so don't call this in a transaction.
   */
  release(ticket: SlotTicket, days: readonly string[] = []): Promise<void> {
    return this.#free(ticket, { days, travelMs: 0 });
  }

  /**
   * Abandons a request that got no response. The request may still arrive within {@link maxTravelMs}, so its slot rests
   * for that long, unless `release` is called earlier. `days` are the days on which the request may arrive; it's
   * charged to all of them.
   */
  abandon(ticket: SlotTicket, days: readonly string[]): Promise<void> {
    return this.#free(ticket, { days, travelMs: maxTravelMs });
  }

  #free(taken: SlotTicket, given: { days: readonly string[]; travelMs: number }): Promise<void> {
    const { context } = this;
    const { ticket, days } = taken;
    const free = (inside: StoreContext) => freeSlot(inside, ticket, given);
    // The slot may have been copied to another account, which is then charged too.
    const isCharged = given.days.every((day) => days.includes(day));
    // The rest begins only in the transaction, so it doesn't wait for a process that takes another slot of the account.
    // The statement changes only this ticket's slots, and a process that takes a slot compares its ticket.
    return context.pending.settle(ticket, () =>
      isCharged ? inTransactionOn(context, [], free) : inTransaction(context, free),
    );
  }

  /**
   * Reads the account's slots. Requests of dead processes may still arrive, so any that weren't yet charged to all of
   * `days` are charged to the missing ones.
   */
  async look(account: string, days: readonly string[]): Promise<SlotSnapshot> {
    const rows = await slotsOf(this.context, account);
    const { boot, self } = this.context.processes;
    if (!rows.some((row) => isStray(row, boot) && row.owner !== self)) return new SlotSnapshot(rows);
    const keys = [accountLock(account)];
    return new SlotSnapshot(await inTransactionOn(this.context, keys, (inside) => healed(inside, account, days)));
  }

  /**
   * Copies the slots of requests that may still arrive, or have just arrived, to another account, so that the requests
   * count for both. When one of a request's two slots is released, so is the other.
   */
  async carry(from: string, to: string): Promise<void> {
    const now = this.context.clock.monotonic();
    const { boot } = this.context.processes;
    const counts = (row: Slot) => isBusy(row, now) || row.boot !== boot;
    const there = await slotsOf(this.context, to);
    const busy = there.filter(counts);
    for (const row of await slotsOf(this.context, from)) {
      if (!counts(row) || busy.some(({ ticket }) => ticket === row.ticket)) continue;
      const slot = lowestFree(busy);
      const seen = there.find((other) => other.slot === slot)?.ticket ?? '';
      await take(this.context.db, { ...row, account: to, slot, seen });
      busy.push({ ...row, slot });
    }
  }

  /** Returns how many requests all processes currently have in flight. */
  async underway(account: string): Promise<number> {
    return new SlotSnapshot(await slotsOf(this.context, account)).underway();
  }
}

/**
 * Returns the account's slots after recovery. A slot that a dead process took, or that was taken before a reboot, rests
 * until its request can no longer arrive.
 */
async function healed(context: StoreContext, account: string, days: readonly string[]): Promise<Slot[]> {
  const { db, clock, processes } = context;
  const owners = new ProcessHeartbeats(context);
  const slots: Slot[] = [];
  for (const row of await slotsOf(context, account)) {
    if (!isStray(row, processes.boot) || !(await owners.isDead(row.owner))) {
      slots.push(row);
      continue;
    }
    const now = clock.monotonic();
    const travelMs = travelLeftMs(row, { now, boot: processes.boot });
    const rest = { boot: processes.boot, owner: processes.self, ...restAfter(travelMs, now) };
    await db
      .updateTable('send_slots')
      .set(rest)
      .where('account', '=', account)
      .where('slot', '=', row.slot)
      .where('ticket', '=', row.ticket)
      .execute();
    slots.push({ ...row, ...rest });
    if (row.free_at === null || row.arrives_by !== null) await chargeSlot(context, row, days);
  }
  return slots;
}

/**
 * Returns how much longer the request of a dead process may take to arrive. The process sent the request soon after it
 * took the slot, and before it died.
 */
function travelLeftMs({ boot, free_at, arrives_by }: Slot, present: { now: number; boot: string }): number {
  if (free_at !== null && arrives_by === null) return 0;
  if (boot !== present.boot || arrives_by === null) return maxTravelMs;
  return Math.min(maxTravelMs, Math.max(0, arrives_by - present.now));
}

/**
 * Takes a slot if the slot hasn't changed since it was read. One statement compares and writes (compare-and-set), so if
 * two processes try to take the slot, only one succeeds.
 */
async function occupy(
  context: StoreContext,
  given: { account: string; slot: number; seen: string | undefined; days: readonly string[] },
): Promise<SlotTicket | undefined> {
  const { db, clock, processes } = context;
  const { account, slot, seen, days } = given;
  const mine = {
    owner: processes.self,
    boot: processes.boot,
    free_at: null,
    arrives_by: clock.monotonic() + maxStartMs + maxTravelMs,
    ticket: newId(),
    days: days.join(','),
  };
  await new ProcessHeartbeats(context).beat();
  const [row] = await take(db, { account, slot, ...mine, seen: seen ?? '' });
  // If the process doesn't learn that it has the slot, it sends no request.
  context.taken?.set(mine.ticket, (outside) =>
    inTransactionOn(outside, [accountLock(account)], (inside) => freeSlot(inside, mine.ticket, { days, travelMs: 0 })),
  );
  return row && { account, slot, ticket: row.ticket, days };
}

const take = prepared((db, value: BoundValue<Slot & { account: string; seen: string }>) => {
  const mine = {
    owner: value('owner'),
    boot: value('boot'),
    free_at: value('free_at'),
    arrives_by: value('arrives_by'),
    ticket: value('ticket'),
    days: value('days'),
  };
  return db
    .insertInto('send_slots')
    .values({ account: value('account'), slot: value('slot'), ...mine })
    .onConflict((conflict) =>
      conflict.columns(['account', 'slot']).doUpdateSet(mine).where('send_slots.ticket', '=', value('seen')),
    )
    .returning('ticket');
});

/** Returns the busy slots that become free first, at most `count`. */
function firstFree(busy: readonly Slot[], count: number): (Slot & { free_at: number })[] {
  const resting = busy.filter((row): row is Slot & { free_at: number } => row.free_at !== null);
  return resting.sort((a, b) => a.free_at - b.free_at).slice(0, count);
}

/**
 * Returns when the first busy slot becomes free, or can be taken in advance. The time is unknown if the slot rests for
 * longer than after a response, because the peer may close the connection earlier, which frees the slot.
 */
function soonest(busy: readonly Slot[], { now, leadMs }: { now: number; leadMs: number }): NoFreeSlot {
  const leftMs = Math.min(...busy.map(({ free_at }) => (free_at ?? Number.POSITIVE_INFINITY) - now));
  if (leftMs <= restMs) return { freeInMs: leftMs > leadMs ? leftMs - leadMs : Math.max(0, leftMs) };
  const isResting = busy.every(({ free_at }) => free_at !== null);
  return { freeInMs: undefined, ...(isResting ? { restsForMs: leftMs } : {}) };
}
