import type { ExpressionBuilder } from 'kysely';
import type { StoreContext } from '../engine/context.ts';
import type { OutboxRow, Tables } from '../tables.ts';

type Column = ExpressionBuilder<Tables, 'outbox'>;

/** Attempts that came to an end and failed, and those in a row that had none. */
export function triesOf({ attempts, crashes, code }: Pick<OutboxRow, 'attempts' | 'crashes' | 'code'>) {
  const open = code === null && attempts > 0;
  return { failures: open ? attempts - 1 : attempts, crashes: open ? crashes + 1 : 0 };
}

/**
 * What is written of an attempt that was given up at `now`: never the instant at which one began, which says that it may still be
 * under way (see {@link unansweredIn}).
 */
export const givenUpAt = (now: number): number => now + 1;

/** What an attempt that begins at `now` (epoch milliseconds) writes into its row. */
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

/** One at a time is sent to an instance: what is about to be has seen the end of all that was under way before. */
export async function giveUpOthers({ db }: StoreContext, row: OutboxRow, now: number): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ unanswered_at: givenUpAt(now) })
    .where('url', '=', row.url)
    .where('client_id', '=', row.client_id)
    .where('instance', '=', row.instance)
    .where('unanswered_at', 'is not', null)
    .where('id', '<>', row.id)
    .whereRef('unanswered_at', '=', 'last_attempt_at')
    .execute();
}

/** Attempts in a row that had no end, with the last one where it is such. */
function cutsIn(column: Column) {
  return column
    .case()
    .when(isOpen(column))
    .then(column('crashes', '+', 1))
    .else(0)
    .end();
}

/** The last attempt has had no end: the end of each writes down why it failed, its beginning wipes that out. */
function isOpen(column: Column) {
  return column.and([column('code', 'is', null), column('attempts', '>', 0)]);
}

/**
 * An attempt that has had no end is one without an answer. When it was given up is not known yet: as long as this is the
 * instant at which it began, it may still be under way.
 */
export function unansweredIn(column: Column) {
  return column.case().when(isOpen(column)).then(column.ref('last_attempt_at')).else(column.ref('unanswered_at')).end();
}

/** Attempts that came to an end and failed. */
export function failuresIn(column: Column) {
  return column
    .case()
    .when(isOpen(column))
    .then(column('attempts', '-', 1))
    .else(column.ref('attempts'))
    .end();
}

/** Attempts without the last one, which does not count. */
export function oneLess(column: Column) {
  return column
    .case()
    .when('attempts', '>', 0)
    .then(column('attempts', '-', 1))
    .else(0)
    .end();
}

/**
 * When an owed payload may be tried (epoch ms, 0 = at once). A clock set back below the last attempt does not stretch
 * the wait.
 */
export function dueAt(row: OutboxRow, now: number): number {
  if (row.next_attempt_at === null || (row.last_attempt_at ?? 0) > now) return 0;
  return row.next_attempt_at;
}
