import type { ExpressionBuilder } from 'kysely';
import type { StoreContext } from '../engine/context.ts';
import type { OutboxRow, Tables } from '../tables.ts';

type Column = ExpressionBuilder<Tables, 'outbox'>;

/** Returns how often sending the payload has failed, and how many attempts have crashed since the last failure. */
export function triesOf({ attempts, crashes, code }: Pick<OutboxRow, 'attempts' | 'crashes' | 'code'>) {
  const open = code === null && attempts > 0;
  return { failures: open ? attempts - 1 : attempts, crashes: open ? crashes + 1 : 0 };
}

/**
 * Returns the time to record for an attempt that is abandoned at `now`. It differs from the attempt's start time,
 * because a recorded time that equals the start means that the attempt may still be in flight (see
 * {@link unansweredIn}).
 */
export const givenUpAt = (now: number): number => now + 1;

/** Returns the columns to update when an attempt begins at `now`, in epoch milliseconds. */
export function begun(column: Column, now: number) {
  return {
    attempts: column(failuresIn(column), '+', 1),
    crashes: cutsIn(column),
    unanswered_at: column.case().when(isOpen(column)).then(givenUpAt(now)).else(column.ref('unanswered_at')).end(),
    last_attempt_at: now,
    next_attempt_at: null,
    code: null,
    message: null,
  };
}

/**
 * Records the instance's other open attempts as abandoned. An instance receives only one upload at a time, so all
 * earlier uploads have ended when an upload starts.
 */
export async function giveUpOthers({ db }: StoreContext, row: OutboxRow, now: number): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ unanswered_at: givenUpAt(now) })
    .where('url', '=', row.url)
    .where('client_id', '=', row.client_id)
    .where('instance', '=', row.instance)
    .where('unanswered_at', 'is not', null)
    .whereRef('unanswered_at', '=', 'last_attempt_at')
    .execute();
}

/** SQL expression: the number of consecutive crashed attempts. The last attempt counts if its end wasn't recorded. */
function cutsIn(column: Column) {
  return column
    .case()
    .when(isOpen(column))
    .then(column('crashes', '+', 1))
    .else(0)
    .end();
}

/**
 * SQL expression: whether the end of the last attempt wasn't recorded. Beginning an attempt clears the error code, and
 * ending it records one.
 */
function isOpen(column: Column) {
  return column.and([column('code', 'is', null), column('attempts', '>', 0)]);
}

/**
 * SQL expression: the time of the last unanswered attempt. If the attempt's end wasn't recorded, this is its start
 * time, which means that the attempt may still be in flight.
 */
export function unansweredIn(column: Column) {
  return column.case().when(isOpen(column)).then(column.ref('last_attempt_at')).else(column.ref('unanswered_at')).end();
}

/** SQL expression: the number of attempts that ended with a failure. */
export function failuresIn(column: Column) {
  return column
    .case()
    .when(isOpen(column))
    .then(column('attempts', '-', 1))
    .else(column.ref('attempts'))
    .end();
}

/** SQL expression: the number of attempts without the last one. Use it if the last attempt must not count. */
export function oneLess(column: Column) {
  return column
    .case()
    .when('attempts', '>', 0)
    .then(column('attempts', '-', 1))
    .else(0)
    .end();
}

/**
 * Returns when to try an owed payload, in epoch milliseconds; 0 means now. If the clock was set back to a time before
 * the last attempt, the payload is due now, so that the wait doesn't become longer.
 */
export function dueAt(row: OutboxRow, now: number): number {
  if (row.next_attempt_at === null || (row.last_attempt_at ?? 0) > now) return 0;
  return row.next_attempt_at;
}
