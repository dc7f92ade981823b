import type { ExpressionBuilder } from 'kysely';
import type { StoreContext } from '../engine/context.ts';
import type { OutboxRow, Tables } from '../tables.ts';

type Column = ExpressionBuilder<Tables, 'outbox'>;

/** Counts failed attempts, and crashed attempts since the last failure. */
export function triesOf({ attempts, crashes, code }: Pick<OutboxRow, 'attempts' | 'crashes' | 'code'>) {
  const open = code === null && attempts > 0;
  return { failures: open ? attempts - 1 : attempts, crashes: open ? crashes + 1 : 0 };
}

/**
 * The value recorded for an attempt abandoned at `now`. It never equals the start of the attempt, because that would
 * mean "possibly still in flight" (see {@link unansweredIn}).
 */
export const givenUpAt = (now: number): number => now + 1;

/** The columns to update when an attempt begins at `now` (epoch ms). */
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
 * Marks the instance's other open attempts as abandoned. An instance receives one upload at a time, so when an upload
 * starts, all earlier ones have ended.
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

/** Consecutive crashed attempts, including the last attempt if it has no recorded end. */
function cutsIn(column: Column) {
  return column
    .case()
    .when(isOpen(column))
    .then(column('crashes', '+', 1))
    .else(0)
    .end();
}

/**
 * True if the last attempt has no recorded end: ending an attempt records its error code, and beginning one clears it.
 */
function isOpen(column: Column) {
  return column.and([column('code', 'is', null), column('attempts', '>', 0)]);
}

/**
 * The time of the last unanswered attempt. If an attempt has no recorded end, this is the attempt's start, which means
 * that it may still be in flight.
 */
export function unansweredIn(column: Column) {
  return column.case().when(isOpen(column)).then(column.ref('last_attempt_at')).else(column.ref('unanswered_at')).end();
}

/** Attempts that ended with a failure. */
export function failuresIn(column: Column) {
  return column
    .case()
    .when(isOpen(column))
    .then(column('attempts', '-', 1))
    .else(column.ref('attempts'))
    .end();
}

/** The attempt count without the last attempt, if that one must not count. */
export function oneLess(column: Column) {
  return column
    .case()
    .when('attempts', '>', 0)
    .then(column('attempts', '-', 1))
    .else(0)
    .end();
}

/**
 * When to try an owed payload (epoch ms, 0 = now). If the clock was set back to before the last attempt, the payload is
 * due now, so that the wait doesn't get longer.
 */
export function dueAt(row: OutboxRow, now: number): number {
  if (row.next_attempt_at === null || (row.last_attempt_at ?? 0) > now) return 0;
  return row.next_attempt_at;
}
