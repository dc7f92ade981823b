import type { StoreContext } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import { Quota } from './quota.ts';

/**
 * How long a slot rests after the response to its request. A request arrives before its response is sent, so two
 * requests that use the same slot arrive at least this far apart. The time is slightly longer than a second, because
 * receivers count in whole milliseconds.
 */
export const restMs = 1_012;

/**
 * How long an unanswered request may take to arrive, because it waits in buffers or at a stalled service. Requests that
 * take longer may exceed the rate limit.
 */
export const maxTravelMs = 30_000;

/**
 * How long a slot rests. `free_at` is when it becomes free. `arrives_by` is the latest time at which its request may
 * arrive; null if the request can no longer arrive.
 */
interface SlotRest {
  readonly free_at: number;
  readonly arrives_by: number | null;
}

/** The rest of a slot whose request may still travel for `travelMs`. */
export function restAfter(travelMs: number, now: number): SlotRest {
  return { free_at: now + travelMs + restMs, arrives_by: travelMs > 0 ? now + travelMs : null };
}

const free = prepared((db, value: BoundValue<SlotRest & { ticket: string; owner: string }>) =>
  db
    .updateTable('send_slots')
    .set({ free_at: value('free_at'), arrives_by: value('arrives_by') })
    .where('ticket', '=', value('ticket'))
    .where('owner', '=', value('owner'))
    .where(({ eb, or }) => or([eb('free_at', 'is', null), eb('free_at', '>', value('free_at'))]))
    .returning(['account', 'days', 'ticket']),
);

/** Sets when a slot becomes free. If the slot was already released, changes it only if it becomes free earlier. */
export async function freeSlot(
  context: StoreContext,
  ticket: string,
  { days, travelMs }: { days: readonly string[]; travelMs: number },
): Promise<void> {
  const rest = restAfter(travelMs, context.clock.monotonic());
  const freed = await free(context.db, { ...rest, ticket, owner: context.processes.self });
  for (const row of freed) await chargeSlot(context, row, days);
}

/** If a request wasn't charged to all of `days`, charges it to the missing ones. */
export async function chargeSlot(
  context: StoreContext,
  { account, ticket, days: paid }: { account: string; ticket: string; days: string },
  days: readonly string[],
): Promise<void> {
  const unpaid = days.filter((day) => !paid.includes(day));
  if (unpaid.length === 0) return;
  for (const day of unpaid) await new Quota(context).charge(account, day);
  await context.db
    .updateTable('send_slots')
    .set({ days: [...(paid === '' ? [] : [paid]), ...unpaid].join(',') })
    .where('account', '=', account)
    .where('ticket', '=', ticket)
    .execute();
}
