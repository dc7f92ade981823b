import { redact } from '../../lib/redact.ts';
import type { StoreContext } from '../engine/context.ts';
import type { OutboxState } from '../tables.ts';
import { unansweredIn } from './attempts.ts';

export interface FailureReason {
  readonly code: string;
  readonly message: string;
}

/** The end of a payload's wait, or its next state after that. */
interface StateChange extends Partial<FailureReason> {
  readonly state: OutboxState;
  /** The states that may change. */
  readonly from: readonly OutboxState[];
  /** Whether the service hasn't processed the last request and never will, so it isn't recorded as unanswered. */
  readonly untaken?: boolean;
}

/** Settles a payload. Returns false, without changing anything, if its current state isn't one of `from`. */
export async function settlePayload(
  { db, clock }: StoreContext,
  id: number,
  { state, from, code, message, untaken = false }: StateChange,
): Promise<boolean> {
  const row = await db
    .updateTable('outbox')
    .set((column) => ({
      state,
      settled_at: Math.round(clock.now()),
      next_attempt_at: null,
      ...(untaken ? {} : { unanswered_at: unansweredIn(column) }),
      code: code ?? null,
      message: message === undefined ? null : redact(message),
    }))
    .where('id', '=', id)
    .where('state', 'in', from)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
