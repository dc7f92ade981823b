import { Problem } from '../lib/problem.ts';
import { actionLease, findInputConsumer } from '../state/checkpoints/consumed-input.ts';
import { jobLock } from '../state/engine/lock-keys.ts';
import type { GoodPayload } from '../state/outbox/good-payloads.ts';
import type { Decided, DecidedBy } from '../state/runs/audit.ts';
import type { OutboxRow } from '../state/tables.ts';
import { factsOf } from './facts.ts';
import type { Gateway } from './gateway.ts';
import { wholePayload } from './whole-payload.ts';

/**
 * Approves a quarantined payload by enqueuing it unchanged, and returns its row. Throws `PAYLOAD_DAMAGED` if the file
 * has changed, or `DECISION_LATE` if the payload is no longer quarantined or newer data exists.
 */
export async function approve(gateway: Gateway, row: OutboxRow, by: DecidedBy): Promise<OutboxRow> {
  await assertUndamaged(gateway, row);
  const decided = await gateway.store.quarantine.approve(row.id, by);
  if (decided === undefined) throw tooLate(row);
  return announce(gateway, 'payload.approved', { decided, by });
}

/** Discards a quarantined payload and its file. Throws `DECISION_LATE` if the payload is no longer quarantined. */
export async function discard(gateway: Gateway, row: OutboxRow, by: DecidedBy): Promise<OutboxRow> {
  const decided = await gateway.store.quarantine.discard(row.id, by);
  if (decided === undefined) throw tooLate(row);
  const discarded = await announce(gateway, 'payload.discarded', { decided, by });
  await gateway.store.payloads.release(row.path);
  return discarded;
}

/**
 * Rolls back to an earlier payload: enqueues it again and puts the job that writes to its instance on hold. Returns the
 * new row. Throws `JOB_BUSY` while the job is running, `PAYLOAD_DAMAGED` if the file has changed, or `ROLLBACK_FILES` if
 * files that can't be read again may be missing afterwards, and no reason was given.
 */
export async function rollback(
  gateway: Gateway,
  former: GoodPayload,
  { job, by }: { job: string; by: DecidedBy },
): Promise<OutboxRow> {
  await assertUndamaged(gateway, former);
  const restore = async (): Promise<OutboxRow> => {
    if (by.why === '' && (await findInputConsumer(gateway.store.settings, job)) !== undefined) throw filesGone(job);
    const decided = await gateway.store.goodPayloads.putBack(former, { job, by });
    return await announce(gateway, 'payload.restored', { decided, by });
  };
  // Until the rollback is stored, no process may begin to move or delete the files whose rows it removes.
  const withoutMoves = () => underLease(gateway, { name: actionLease(job), job }, restore);
  return await underLease(gateway, { name: jobLock(job), job }, withoutMoves);
}

/** Throws `JOB_BUSY` if another process holds the lease. */
async function underLease<T>(
  { store: { leases } }: Gateway,
  { name, job }: { readonly name: string; readonly job: string },
  work: () => Promise<T>,
): Promise<T> {
  const lease = await leases.take(name);
  if (lease === undefined) throw busy(job);
  try {
    return await work();
  } finally {
    await lease.release();
  }
}

/** Requeues a dead payload, starting over with the first attempt. Throws `DECISION_LATE` if newer data exists. */
export async function requeue(gateway: Gateway, row: OutboxRow, by: DecidedBy): Promise<OutboxRow> {
  await assertUndamaged(gateway, row);
  await gateway.store.transaction(async ({ outbox, audit }) => {
    if (!(await outbox.requeue(row.id))) throw tooLate(row);
    await audit.write({ by, action: 'send', job: row.job, run: row.run });
  });
  return announce(gateway, 'payload.revived', { decided: { row: { ...row, state: 'owed' }, superseded: [] }, by });
}

async function announce(
  { store, emit }: Gateway,
  event: 'payload.approved' | 'payload.discarded' | 'payload.restored' | 'payload.revived',
  { decided, by }: { decided: Decided; by: DecidedBy },
): Promise<OutboxRow> {
  const { row, superseded } = decided;
  emit(event, { ...factsOf(row), ...by });
  for (const other of superseded) {
    emit('payload.superseded', factsOf(other));
    await store.payloads.release(other.path);
  }
  return row;
}

async function assertUndamaged({ store }: Gateway, row: OutboxRow): Promise<void> {
  const state = await wholePayload(row, store);
  if (state === 'whole') return;
  throw new Problem({
    code: 'PAYLOAD_DAMAGED',
    family: 'job',
    message: `The payload's file is ${state}; nothing was changed`,
    where: { job: row.job },
    seen: row.path,
    next: `sluice sync ${row.job}`,
  });
}

function tooLate({ job, run }: OutboxRow): Problem {
  return new Problem({
    code: 'DECISION_LATE',
    family: 'job',
    message: 'Another process already handled this payload, or the instance has newer data',
    where: { job },
    seen: `run ${run}`,
    next: 'sluice status',
  });
}

function filesGone(job: string): Problem {
  return new Problem({
    code: 'ROLLBACK_FILES',
    family: 'job',
    message:
      'A rollback removes the rows of later files from the job, and these files were moved or deleted after their delivery; nothing was changed',
    where: { job },
    next: `find the files with \`sluice history ${job}\` and in the log ("file moved", "file deleted"), then run the rollback with --why`,
  });
}

function busy(job: string): Problem {
  return new Problem({
    code: 'JOB_BUSY',
    family: 'try_later',
    message: 'A run of this job is in progress; nothing was changed',
    where: { job },
    next: 'wait until the run ends, then try again; "sluice status" shows its progress',
  });
}
