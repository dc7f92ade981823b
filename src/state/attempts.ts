import type { ExpressionBuilder } from 'kysely';
import type { OutboxRow, Tables } from './tables.ts';

/** Attempts that came to an end and failed, and those in a row that had none. */
export function triesOf({ attempts, cuts, code }: Pick<OutboxRow, 'attempts' | 'cuts' | 'code'>) {
  const open = code === null && attempts > 0;
  return { failures: open ? attempts - 1 : attempts, cuts: open ? cuts + 1 : 0 };
}

export function cutsIn(column: ExpressionBuilder<Tables, 'outbox'>) {
  return column
    .case()
    .when(isOpen(column))
    .then(column('cuts', '+', 1))
    .else(0)
    .end();
}

/** The last attempt has had no end: the end of each writes down why it failed, its beginning wipes that out. */
export function isOpen(column: ExpressionBuilder<Tables, 'outbox'>) {
  return column.and([column('code', 'is', null), column('attempts', '>', 0)]);
}

/**
 * An attempt that has had no end is one without an answer. When it was given up is not known yet: as long as this is the
 * instant at which it began, it may still be under way.
 */
export function unansweredIn(column: ExpressionBuilder<Tables, 'outbox'>) {
  return column.case().when(isOpen(column)).then(column.ref('last_attempt_at')).else(column.ref('unanswered_at')).end();
}

export function failuresIn(column: ExpressionBuilder<Tables, 'outbox'>) {
  return column
    .case()
    .when(isOpen(column))
    .then(column('attempts', '-', 1))
    .else(column.ref('attempts'))
    .end();
}

export function oneLess(column: ExpressionBuilder<Tables, 'outbox'>) {
  return column
    .case()
    .when('attempts', '>', 0)
    .then(column('attempts', '-', 1))
    .else(0)
    .end();
}
