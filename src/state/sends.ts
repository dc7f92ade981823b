import { newId } from '../lib/ids.ts';
import { Owners } from './owners.ts';
import { atomically, type Ground } from './part.ts';
import { prepared, type Value } from './prepared.ts';
import { Quota } from './quota.ts';

/**
 * How long a slot rests after the answer to its request. An answer comes after the arrival, so two requests of one
 * slot arrive at least this far apart; the part above a second is for receivers that count in whole milliseconds.
 */
export const restMs = 1_012;

/** The right to send one request now. Give it back when the answer is there, or when it is sure that none will come. */
export interface Ticket {
  readonly account: string;
  readonly slot: number;
  readonly ticket: string;
}

/** No slot now: free again in so many milliseconds, or (undefined) once some request under way has been answered. */
export interface NoTicket {
  readonly freeInMs: number | undefined;
}

/**
 * As many slots per account as requests may arrive in a second, shared by all processes of the state folder. Measured
 * on the monotonic clock of the boot, so a wall clock that jumps changes nothing.
 */
export class Sends {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** `days`: what the caller is about to pay the request on. */
  take(account: string, perSecond: number, days: readonly string[] = []): Promise<Ticket | NoTicket> {
    return atomically(this.#ground, async (inside) => {
      const sends = new Sends(inside);
      return sends.takeOf(await sends.look(account, days), { account, perSecond, days });
    });
  }

  /** {@link take} for who has just looked, in the same transaction. */
  async takeOf(
    { rows }: Slots,
    { account, perSecond, days }: { account: string; perSecond: number; days: readonly string[] },
  ): Promise<Ticket | NoTicket> {
    const now = this.#ground.clock.monotonic();
    const busy = rows.filter(({ free_at }) => free_at === null || free_at > now);
    if (busy.length >= perSecond) return { freeInMs: soonest(busy, now) };
    const taken = new Set(busy.map(({ slot }) => slot));
    let slot = 0;
    while (taken.has(slot)) slot += 1;
    const seen = rows.find((row) => row.slot === slot)?.ticket;
    return (await occupy(this.#ground, { account, slot, seen, days })) ?? { freeInMs: 0 };
  }

  /**
   * The request has been answered or has failed: its slot rests, then is free. It may have arrived as late as now, so it is
   * charged to the days that are now, where it was not paid on them. Where the disk takes no writes, all of this is done as
   * soon as it does; not to be called inside a transaction.
   */
  release(ticket: Ticket, today: readonly string[] = []): Promise<void> {
    const ground = this.#ground;
    return ground.pending.settle(ticket.ticket, () => atomically(ground, (inside) => giveBack(inside, ticket, today)));
  }

  /**
   * The account's slots as they are now. Looks for requests whose process died under them: each may have arrived as late
   * as now, so it is charged to the days that are now, where it was not paid on them.
   */
  async look(account: string, days: readonly string[]): Promise<Slots> {
    const rows = await slotsOf(this.#ground, account);
    const { boot } = this.#ground.processes;
    if (!rows.some((row) => isStray(row, boot))) return new Slots(rows);
    return new Slots(await atomically(this.#ground, (inside) => healed(inside, account, days)));
  }

  /** Requests under way now, all processes together. */
  async underway(account: string): Promise<number> {
    return new Slots(await slotsOf(this.#ground, account)).underway();
  }
}

/** The slots of one account at one moment. */
export class Slots {
  readonly rows: readonly Slot[];

  constructor(rows: readonly Slot[]) {
    this.rows = rows;
  }

  /** Requests under way; with a day, those that were not paid on it: they may still arrive on it. */
  underway(day?: string): number {
    return this.rows.filter(({ free_at, days }) => free_at === null && (day === undefined || !days.includes(day)))
      .length;
  }
}

/** Under way, or of another boot, whose clock says nothing: worth asking whether its process lives. */
function isStray({ boot, free_at }: Slot, present: string): boolean {
  return boot !== present || free_at === null;
}

interface Slot {
  slot: number;
  ticket: string;
  owner: string;
  boot: string;
  free_at: number | null;
  days: string;
}

function slotsOf({ db }: Ground, account: string): Promise<Slot[]> {
  return ofAccount(db, { account });
}

const ofAccount = prepared((db, value: Value<{ account: string }>) =>
  db.selectFrom('sends').selectAll().where('account', '=', value('account')),
);

const free = prepared((db, value: Value<Ticket & { at: number }>) =>
  db
    .updateTable('sends')
    .set({ free_at: value('at') })
    .where('account', '=', value('account'))
    .where('slot', '=', value('slot'))
    .where('ticket', '=', value('ticket'))
    .where('free_at', 'is', null)
    .returning('days'),
);

/** What was given back before stays as it is. */
async function giveBack(ground: Ground, { account, slot, ticket }: Ticket, today: readonly string[]): Promise<void> {
  const at = ground.clock.monotonic() + restMs;
  const [freed] = await free(ground.db, { account, slot, ticket, at });
  if (freed === undefined) return;
  for (const day of today) if (!freed.days.includes(day)) await new Quota(ground).charge(account, day);
}

/**
 * The account's slots. One whose process died, or that was taken before this boot, has no answer to wait for: it
 * rests from the moment this is noticed.
 */
async function healed(ground: Ground, account: string, days: readonly string[]): Promise<Slot[]> {
  const { db, clock, processes } = ground;
  const owners = new Owners(ground);
  const rows = await slotsOf(ground, account);
  const slots: Slot[] = [];
  for (const row of rows) {
    if (!isStray(row, processes.boot) || !(ground.pending.has(row.ticket) || (await owners.isDead(row.owner)))) {
      slots.push(row);
      continue;
    }
    const rest = { boot: processes.boot, owner: processes.self, free_at: clock.monotonic() + restMs };
    await db
      .updateTable('sends')
      .set(rest)
      .where('account', '=', account)
      .where('slot', '=', row.slot)
      .where('ticket', '=', row.ticket)
      .execute();
    slots.push({ ...row, ...rest });
    const unpaid = row.free_at === null ? days.filter((day) => !row.days.includes(day)) : [];
    for (const day of unpaid) await new Quota(ground).charge(account, day);
  }
  return slots;
}

/** Takes the slot if it is still as it was seen: one statement, so that of two takers one goes away empty. */
async function occupy(
  ground: Ground,
  given: { account: string; slot: number; seen: string | undefined; days: readonly string[] },
): Promise<Ticket | undefined> {
  const { db, processes } = ground;
  const { account, slot, seen, days } = given;
  const mine = {
    owner: processes.self,
    boot: processes.boot,
    free_at: null,
    ticket: newId(),
    days: days.join(','),
  };
  await new Owners(ground).beat();
  const [row] = await take(db, { account, slot, ...mine, seen: seen ?? '' });
  return row && { account, slot, ticket: row.ticket };
}

const take = prepared((db, value: Value<Slot & { account: string; seen: string }>) => {
  const mine = {
    owner: value('owner'),
    boot: value('boot'),
    free_at: value('free_at'),
    ticket: value('ticket'),
    days: value('days'),
  };
  return db
    .insertInto('sends')
    .values({ account: value('account'), slot: value('slot'), ...mine })
    .onConflict((conflict) =>
      conflict.columns(['account', 'slot']).doUpdateSet(mine).where('sends.ticket', '=', value('seen')),
    )
    .returning('ticket');
});

function soonest(busy: readonly Slot[], now: number): number | undefined {
  const resting = busy.flatMap(({ free_at }) => (free_at === null ? [] : [free_at]));
  return resting.length === 0 ? undefined : Math.max(0, Math.min(...resting) - now);
}
