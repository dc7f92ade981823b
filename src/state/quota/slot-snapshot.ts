import type { Selectable } from 'kysely';
import type { StoreContext } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import type { SendSlotsTable } from '../tables/budget.ts';

/** An account's slots at one moment. */
export class SlotSnapshot {
  readonly rows: readonly Slot[];

  constructor(rows: readonly Slot[]) {
    this.rows = rows;
  }

  /**
   * Returns the number of requests in flight. If `day` is given, counts only requests that haven't been charged to that
   * day but may still arrive on it.
   */
  underway(day?: string): number {
    return this.rows.filter(({ free_at, days }) => free_at === null && (day === undefined || !days.includes(day)))
      .length;
  }
}

/**
 * Returns whether the slot's process may be dead: its request is in flight, or it was taken in another boot, whose
 * clock can't be compared with this one.
 */
export function isStray({ boot, free_at }: Slot, present: string): boolean {
  return boot !== present || free_at === null;
}

export function isBusy({ free_at }: Slot, now: number): boolean {
  return free_at === null || free_at > now;
}

export function lowestFree(busy: readonly Slot[]): number {
  const taken = new Set(busy.map(({ slot }) => slot));
  let slot = 0;
  while (taken.has(slot)) slot += 1;
  return slot;
}

export type Slot = Omit<Selectable<SendSlotsTable>, 'account'>;

/** The slots of an account. */
export function slotsOf({ db }: StoreContext, account: string): Promise<(Slot & { account: string })[]> {
  return ofAccount(db, { account });
}

const ofAccount = prepared((db, value: BoundValue<{ account: string }>) =>
  db.selectFrom('send_slots').selectAll().where('account', '=', value('account')),
);
