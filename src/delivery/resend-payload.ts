import { keyOf } from '../state/outbox/instance-key.ts';
import type { Resend } from '../state/outbox/resends.ts';
import type { Repositories } from '../state/store.ts';
import type { OutboxRow } from '../state/tables.ts';
import { factsOf } from './facts.ts';
import { decide } from './retry.ts';
import { leaseOf } from './send-payload.ts';
import { type SendOptions, sendUpload } from './send-upload.ts';
import { wholePayload } from './whole-payload.ts';

/** The rank of resends, which is lower than that of any owed payload. */
export const resendRank = -1;
/** Wait before the next attempt after a failed resend. It's long, because resends are never urgent. */
const restMs = 10 * 60_000;

/**
 * Sends a delivered payload again, in case an older upload arrived after it (see `Resends`). The request counts against
 * the quota like any other, and is sent only if nothing blocks the destination. Returns true if the service accepted
 * it.
 */
export async function resendPayload(repeat: Resend, given: SendOptions): Promise<boolean> {
  const { store } = given.gateway;
  const { row } = repeat;
  // If the destination's URL was edited, the instance there is a different one with unknown contents.
  if (row.url !== given.gate.destination.url) return false;
  if ((await given.gate.closed(given.priority)) !== undefined) return false;
  const lease = await leaseOf(keyOf(row), given);
  if (lease === undefined) return false;
  try {
    if ((await wholePayload(row, store)) === 'whole') return await attempt(repeat, given);
    await store.resends.giveUp(row);
    return false;
  } finally {
    await lease.release();
  }
}

async function attempt(repeat: Resend, given: SendOptions): Promise<boolean> {
  const { gateway, gate } = given;
  const { store, clock, emit } = gateway;
  const began = clock.monotonic();
  const request = {
    rank: resendRank,
    prepare: (parts: Repositories) => parts.resends.begin(repeat),
    attempt: () => 1,
  };
  const sent = await sendUpload(repeat.row, request, given);
  if (sent === 'idle' || 'closed' in sent) return false;
  const { row, outcome } = sent;
  const decision = decide(outcome);
  const waitMs = await gate.applyDecision(decision, 1);
  if (decision.action === 'settle') {
    await store.resends.delivered(row);
    emit('payload.repeated', { ...factsOf(row), milliseconds: clock.monotonic() - began });
    await store.payloads.releaseFormer(row);
    return true;
  }
  await putOff(row, { ...decision, waitMs: Math.max(waitMs, restMs) }, store.resends);
  const { code = '', message = '' } = decision.problem ?? {};
  emit('upload.failed', { ...factsOf(row), code, message, attempt: 1, action: decision.action });
  const until = clock.now() + Math.max(waitMs, restMs);
  emit('payload.waiting', { ...factsOf(row), code, message, ...(decision.action === 'dead' ? {} : { until }) });
  return false;
}

async function putOff(
  row: OutboxRow,
  { action, ambiguous, waitMs }: { action: string; ambiguous: boolean; waitMs: number },
  repeats: SendOptions['gateway']['store']['resends'],
): Promise<void> {
  await repeats.postpone(row, { waitMs, ambiguous });
  // The service accepted the payload earlier but refuses it now. The next run will send its own result and report any
  // problem.
  if (action === 'dead') await repeats.giveUp(row);
}
