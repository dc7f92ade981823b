import { statSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';
import { Problem } from '../lib/problem.ts';
import { instantText } from '../lib/time-text.ts';
import { verifyPayload } from '../pipeline/verify-payload.ts';
import { instanceLock } from '../state/engine/lock-keys.ts';
import { dueAt, triesOf } from '../state/outbox/attempts.ts';
import { type InstanceKey, keyOf } from '../state/outbox/instance-key.ts';
import type { AttemptedPayload } from '../state/outbox/outbox.ts';
import type { Lease } from '../state/processes/leases.ts';
import { processText } from '../state/processes/processes.ts';
import type { Repositories } from '../state/store.ts';
import type { OutboxRow } from '../state/tables.ts';
import { type Closed, closedProblem } from './closed.ts';
import { factsOf } from './facts.ts';
import { type Decision, decide } from './retry.ts';
import { type SendOptions, sendUpload } from './send-upload.ts';
import { wholePayload } from './whole-payload.ts';

/** The result of delivering a payload, or what the payload is waiting for. `until`: epoch milliseconds. */
export type DeliveryState =
  | {
      readonly state: 'delivered' | 'unchanged' | 'superseded';
      readonly until?: undefined;
      readonly problem?: undefined;
    }
  | { readonly state: 'waiting_quota'; readonly until: number; readonly problem?: undefined }
  | { readonly state: 'waiting_retry'; readonly until: number; readonly problem?: Problem }
  | { readonly state: 'waiting_login' | 'dead'; readonly until?: undefined; readonly problem: Problem };

/**
 * A payload is marked dead after this many crashes during its upload. A power failure isn't the payload's fault, but a
 * payload that crashes its process every time must not be retried forever.
 */
const maxCrashes = 40;

/** Polling interval and timeout for an instance's lease while another upload to the instance is in progress. */
const leasePollMs = 250;
const maxLeaseWaitMs = 15_000;
/** Retry delay after a lease timeout. In the meantime, other payloads go first. */
const leaseRestMs = 5_000;

/** Sends one owed payload if that's possible now, and settles it according to the response. */
export async function sendPayload(owed: OutboxRow, given: SendOptions): Promise<DeliveryState> {
  const { clock, store } = given.gateway;
  const { url } = given.gate.destination;
  // If the destination's URL was edited, the payload goes to the new one, so its receipt must not be stored for the old
  // one.
  const row = owed.url === url ? owed : await store.outbox.readdress(owed.id, url);
  if (row?.state !== 'owed') return settledState(row);
  const rest = restOf(row, clock);
  if (rest !== undefined) return rest;
  const closed = await given.gate.closed(given.priority);
  if (closed !== undefined) return waitAtGate(row, closed, given);
  const lease = await leaseOf(keyOf(row), given);
  if (lease === undefined) return waitForLease(row, given);
  try {
    const fresh = await store.outbox.find(row.id);
    if (fresh?.state !== 'owed') return settledState(fresh);
    // Check whether the payload is still due, because the process that held the lease may have tried to send it.
    return restOf(fresh, clock) ?? (await sendOwed(fresh, given));
  } finally {
    await lease.release();
  }
}

/** The state of a payload that has to wait for a retry; undefined if the payload is due. */
function restOf(row: OutboxRow, clock: Clock): DeliveryState | undefined {
  const until = dueAt(row, clock.now());
  return until > clock.now() ? { state: 'waiting_retry', until } : undefined;
}

/**
 * Acquires an instance's lease, because only one process at a time may send to an instance. Undefined if the lease is
 * still taken after {@link maxLeaseWaitMs}.
 */
export async function leaseOf(key: InstanceKey, { gateway, signal }: SendOptions): Promise<Lease | undefined> {
  const { store, clock } = gateway;
  const end = clock.monotonic() + maxLeaseWaitMs;
  for (;;) {
    const lease = await store.leases.take(instanceLock(key));
    if (lease !== undefined || clock.monotonic() >= end) return lease;
    await clock.sleep(leasePollMs, signal);
  }
}

/**
 * Handles an upload to the instance that is taking a long time: reports which process is sending it. This payload
 * remains owed.
 */
async function waitForLease(row: OutboxRow, { gateway }: SendOptions): Promise<DeliveryState> {
  const { store, clock, emit } = gateway;
  const holder = await store.leases.holder(instanceLock(keyOf(row)));
  const at = clock.now() + leaseRestMs;
  const problem = new Problem({
    code: 'INSTANCE_BUSY',
    family: 'try_later',
    message: 'Another upload to the same instance is in progress',
    where: { job: row.job, destination: row.destination, stage: 'deliver' },
    seen: holder === undefined ? undefined : `by ${processText(holder.owner)} since ${instantText(holder.takenAt)}`,
    next: 'wait until that upload ends; this payload will be sent afterwards',
  });
  const { code, message } = problem;
  if (await store.outbox.note(row.id, { code, message })) {
    emit('payload.waiting', { ...factsOf(row), code, message, until: at });
  }
  return { state: 'waiting_retry', until: at, problem };
}

async function sendOwed(row: OutboxRow, given: SendOptions): Promise<DeliveryState> {
  const { store, emit } = given.gateway;
  const damage = await damageOf(row, given);
  if (damage !== undefined) return markDead(row, damage, given);
  const { crashes } = triesOf(row);
  if (crashes >= maxCrashes) return markDead(row, cutShort(row, crashes), given);
  const isThere = row.always === 0 && (await store.receipts.holds(keyOf(row), row));
  if (isThere && (await store.outbox.unchanged(row))) {
    const { id: _, ...facts } = factsOf(row);
    emit('payload.unchanged', facts);
    await store.payloads.release(row.path);
    return { state: 'unchanged' };
  }
  return attempt(row, given);
}

async function attempt(owed: OutboxRow, given: SendOptions): Promise<DeliveryState> {
  const { gateway, gate, cut, deadline } = given;
  const { store, clock, emit } = gateway;
  const began = clock.monotonic();
  const request = {
    rank: gateway.rankOf(owed),
    deadline,
    waits: (closed: Closed) => noteWait(owed, closed, given).then(() => undefined),
    prepare: (parts: Repositories) => parts.outbox.attempt(owed.id),
    attempt: ({ attempts }: AttemptedPayload) => attempts,
  };
  const sent = await sendUpload(owed, request, given);
  if (sent === 'idle') return settledState(await store.outbox.find(owed.id));
  if ('closed' in sent) return waitAtGate(owed, sent.closed, given);
  const { row, outcome } = sent;
  if (cut.aborted && 'error' in outcome) return interrupt(row, given);
  const decision = decide(outcome);
  if (decision.action !== 'settle') return afterFailure({ row, before: owed }, decision, given);
  await gate.applyDecision(decision, row.attempts);
  await store.outbox.delivered(row);
  gateway.verified.end(row.id);
  const milliseconds = clock.monotonic() - began;
  emit('payload.delivered', { ...factsOf(row), attempts: row.attempts, milliseconds });
  await store.payloads.releaseFormer(row);
  return { state: 'delivered' };
}

async function afterFailure(
  { row, before }: { row: AttemptedPayload; before: OutboxRow },
  decision: Decision,
  given: SendOptions,
): Promise<DeliveryState> {
  const { store, clock, emit, verified } = given.gateway;
  verified.end(row.id);
  const problem = (decision.problem as Problem).at({ job: row.job, destination: row.destination });
  const { code, message } = problem;
  emit('upload.failed', { ...factsOf(row), code, message, attempt: row.attempts, action: decision.action });
  const waitMs = await given.gate.applyDecision(decision, row.attempts);
  const { ambiguous } = decision;
  if (!ambiguous) await store.outbox.refused(row);
  if (decision.action === 'dead') return markDead(row, problem, given, !ambiguous);
  const blamed = decision.action === 'retry' && (await isToBlame(before, given));
  if (blamed && row.faults + 1 >= given.gate.destination.attempts) return markDead(row, exhausted(row, problem), given);
  const waits = ['retry', 'pause', 'away'].includes(decision.action);
  const free = decision.action !== 'retry';
  await store.outbox.postpone(row.id, {
    code,
    message,
    free,
    blamed,
    untaken: !ambiguous,
    ...(waits ? { waitMs } : {}),
  });
  const now = await store.outbox.find(row.id);
  if (now?.state !== 'owed') return settledState(now);
  if (waits) {
    const at = now.next_attempt_at ?? clock.now();
    emit('payload.waiting', { ...factsOf(row), code, message, until: at, attempt: row.attempts });
    return { state: 'waiting_retry', until: at, problem };
  }
  const closed = await given.gate.closed(given.priority);
  return closed === undefined
    ? { state: 'waiting_retry', until: clock.now(), problem }
    : waitAtGate(row, closed, given);
}

/**
 * Whether the service has accepted another payload for the account since this payload's last attempt. If so, this
 * payload is to blame, not the service. If the service fails for all payloads, they're retried without limit, and their
 * failures don't count against them.
 */
function isToBlame(before: OutboxRow, { gateway, gate }: SendOptions): Promise<boolean> {
  const { account } = gate.destination;
  const alike = [...gateway.gates()].filter(({ destination }) => destination.account === account);
  const names = alike.map(({ destination }) => destination.name);
  return gateway.store.receipts.tookAfter(names, before.last_attempt_at ?? before.owed_at);
}

/** Handles a shutdown: the payload remains owed, and the attempt doesn't count. */
async function interrupt(row: OutboxRow, { gateway }: SendOptions): Promise<DeliveryState> {
  const message = 'The request was aborted because Sluice was stopped';
  await gateway.store.outbox.postpone(row.id, { code: 'DELIVERY_STOPPED', message, free: true });
  return { state: 'waiting_retry', until: gateway.clock.now() };
}

async function waitAtGate(row: OutboxRow, closed: Closed, given: SendOptions): Promise<DeliveryState> {
  const problem = await noteWait(row, closed, given);
  if (closed.why === 'login') return { state: 'waiting_login', problem };
  if (closed.why === 'quota') return { state: 'waiting_quota', until: closed.until };
  return { state: 'waiting_retry', until: closed.until, problem };
}

/** Records and emits what the payload is waiting for. */
async function noteWait(row: OutboxRow, closed: Closed, { gateway, gate }: SendOptions): Promise<Problem> {
  const where = { job: row.job, destination: row.destination };
  const problem = closedProblem(closed, gate.destination.name, gateway.clock.now()).at(where);
  const { code, message } = problem;
  const noted = await gateway.store.outbox.note(row.id, { code, message });
  const until = closed.why === 'login' ? {} : { until: closed.until };
  // For slots, emit this even if another process has already recorded the wait, because this process waits too.
  if (noted || closed.why === 'slots') gateway.emit('payload.waiting', { ...factsOf(row), code, message, ...until });
  return problem;
}

/** `untaken`: the service certainly didn't process the payload's last attempt. */
async function markDead(
  row: OutboxRow,
  problem: Problem,
  { gateway }: SendOptions,
  untaken = false,
): Promise<DeliveryState> {
  const { code, message } = problem;
  if (!(await gateway.store.outbox.markDead(row.id, { code, message, untaken }))) {
    return settledState(await gateway.store.outbox.find(row.id));
  }
  gateway.emit('payload.dead', { ...factsOf(row), code, message });
  return { state: 'dead', problem };
}

/** The state of a payload that another process settled in the meantime. */
function settledState(row: OutboxRow | undefined): DeliveryState {
  if (row?.state === 'delivered') return { state: 'delivered' };
  if (row?.state !== 'dead') return { state: 'superseded' };
  const { code, message } = row;
  return {
    state: 'dead',
    problem: new Problem({ code: code ?? 'DELIVERY_REFUSED', family: 'job', message: message ?? 'It is dead' }),
  };
}

function exhausted(row: OutboxRow, last: Problem): Problem {
  return new Problem({
    code: 'DELIVERY_GAVE_UP',
    family: 'job',
    message: `Gave up after ${row.attempts} attempts, although the service accepted other payloads; last error: ${last.message}`,
    where: { job: row.job, destination: row.destination, stage: 'deliver' },
    next: `fix the cause of the last error, then run "sluice dead send ${row.job}"`,
    cause: last,
  });
}

function cutShort(row: OutboxRow, crashes: number): Problem {
  return new Problem({
    code: 'DELIVERY_GAVE_UP',
    family: 'job',
    message: `Gave up: the process crashed during each of the last ${crashes} attempts`,
    where: { job: row.job, destination: row.destination, stage: 'deliver' },
    next: `find out why the process crashed (for example, a power failure, too little memory or a supervisor), then run "sluice dead send ${row.job}"`,
  });
}

/**
 * Checks only the size of a payload that this process has just written or verified; reads and hashes any other payload.
 */
async function damageOf(row: OutboxRow, { gateway }: SendOptions): Promise<Problem | undefined> {
  const state = await wholePayload(row, gateway.store, gateway.verified.has(row.id) ? quickVerify : verifyPayload);
  if (state === 'whole') gateway.verified.add(row.id);
  if (state === 'whole') return undefined;
  return new Problem({
    code: 'PAYLOAD_DAMAGED',
    family: 'job',
    message: `The payload's file is ${state}`,
    where: { job: row.job, destination: row.destination, stage: 'deliver' },
    seen: row.path,
    next: 'run the job again; if it happens again, check the disk that holds the state folder',
  });
}

/** Synchronous, like the database, so that payloads enter the send queue in outbox order. */
function quickVerify({ path, bytes }: OutboxRow): 'whole' | 'missing' | 'damaged' {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'missing';
  return found.size === bytes ? 'whole' : 'damaged';
}
