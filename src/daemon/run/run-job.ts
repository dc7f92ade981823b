import type { Extract, Job } from '../../config/config.ts';
import { addressOf, type TargetAddress } from '../../delivery/address.ts';
import { deliverRows } from '../../delivery/deliver.ts';
import { settle } from '../../delivery/settle.ts';
import { GuardCounters } from '../../guards/guard-counters.ts';
import { type RunWarning, RunWarnings } from '../../lib/run-warnings.ts';
import type { DraftPayload } from '../../pipeline/payload.ts';
import { runPipeline, type Unchanged } from '../../pipeline/run-pipeline.ts';
import { findInputConsumer } from '../../state/checkpoints/consumed-input.ts';
import { instanceLock, jobLock } from '../../state/engine/lock-keys.ts';
import { isUnwritable } from '../../state/engine/state-problem.ts';
import { instanceKeyOf } from '../../state/outbox/instance-key.ts';
import { spanOf } from '../../state/runs/past-attempts.ts';
import { clearSuspect } from '../../state/runs/suspects.ts';
import type { OutboxRow, RunRow } from '../../state/tables.ts';
import { holdProblem } from '../login-holds/problem.ts';
import { guardSource } from '../login-holds/source-session.ts';
import type { Attempt } from '../retry/attempt.ts';
import { openHandedOn } from '../retry/handed-on.ts';
import { actAfterDelivery, mayAct } from './after-delivery.ts';
import { jobRowsFrom } from './job-rows.ts';
import { findResumePoint, type ResumePoint } from './keep-rows.ts';
import { busyProblem, heldProblem, historyLostProblem } from './not-run-problems.ts';
import { refreshTargets } from './refresh-targets.ts';
import { emitRunEnd, endFailed } from './run-end.ts';
import { placeOf, type RunOptions } from './run-options.ts';
import type { RunFigures, RunOutcome, RunStage } from './run-outcome.ts';

const noWork: RunFigures = { rows: 0, bytes: 0, requests: 0, milliseconds: 0 };

/** The outcome if no run was started. */
const notRun = ({ name: job }: Job, stage: RunStage): RunOutcome => ({ ...stage, job, ...noWork });

/**
 * Runs one job once: takes the lease, extracts the rows, writes the payload to the outbox and, if requested, delivers
 * it. Doesn't throw if the run fails: errors are returned in the outcome and recorded in the store, and don't affect
 * other jobs (invariant 7). If the outcome is `failed` and has no run ID, even the run's start couldn't be recorded.
 */
export async function runJob(given: RunOptions): Promise<RunOutcome> {
  try {
    return await withJob(given, () => runUnderLease(given));
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    return notRun(given.job, { state: 'failed', problem: error.at(placeOf(given)) });
  }
}

/**
 * Runs `work` under the job's lease. If the job is busy or on hold, doesn't call `work`, but returns `busy` or
 * `on_hold`.
 */
export async function withJob(given: RunOptions, work: () => Promise<RunOutcome>): Promise<RunOutcome> {
  const { runtime, job } = given;
  const lease = await runtime.store.leases.take(jobLock(job.name));
  if (lease === undefined) return notRun(job, { state: 'busy', problem: await busyProblem(job, runtime.store) });
  try {
    if (lease.from !== undefined) await runtime.store.runs.interruptOf(lease.from, job.name);
    const hold = await runtime.store.holds.find(job.name);
    if (hold !== undefined) return notRun(job, { state: 'on_hold', problem: heldProblem(job, hold) });
    return await withLogin(given, work);
  } finally {
    await lease.release();
  }
}

/** Runs `work` if the job's source is allowed to log in. */
async function withLogin({ runtime, job }: RunOptions, work: () => Promise<RunOutcome>): Promise<RunOutcome> {
  if (job.extract === undefined) return work();
  const entry = await runtime.loginGate.begin(job.extract.source);
  if (!('hold' in entry)) return work().finally(entry.end);
  const problem = holdProblem(job.extract.source.name, entry.hold).at({ job: job.name });
  return notRun(job, { state: 'on_hold', problem });
}

/** Like {@link runJob}, for callers that already hold the job's lease. */
export async function runUnderLease(given: RunOptions): Promise<RunOutcome> {
  const { runtime, job, origin } = given;
  const { events, clock } = runtime;
  const began = clock.monotonic();
  const run = await begin(given);
  if (run === undefined) return notRun(job, { state: 'superseded' });
  const attempt = given.attempt?.number ?? 1;
  events.emit('run.started', { job: job.name, run, origin, ...(attempt === 1 ? {} : { attempt }) });
  const tell = (warning: RunWarning) => events.emit('run.warning', { job: job.name, run, ...warning });
  const warnings = new RunWarnings(tell, job.guards);
  given.warned?.forEach(warnings.add);
  const stage = await runStages(given, run, warnings).catch((thrown: unknown) => endFailed(given, run, thrown));
  const row = await tidyUp(given, { run, stage }).catch(otherThanDisk);
  const isShown = stage.state === 'delivered' || stage.state === 'unchanged';
  const later = isShown ? await actAfterDelivery(given).catch(otherThanDisk) : undefined;
  const warned = [...warnings.list, ...(later?.warning === undefined ? [] : [later.warning])];
  const figures = { rows: row?.row_count ?? 0, bytes: row?.bytes ?? 0, requests: row?.requests ?? 0 };
  const facts = { job: job.name, run, ...figures, milliseconds: clock.monotonic() - began };
  // The first attempt may have run in another process or before a reboot, so its monotonic time can't be used.
  const waitedMs = attempt === 1 || row === undefined ? 0 : row.started_at - spanOf(row).started_at;
  emitRunEnd(events, stage, { ...facts, attempt, waitedMs });
  return { ...stage, ...facts, ...(warned.length === 0 ? {} : { warnings: warned }) };
}

/** Cleans up after the run and returns the run's row. */
async function tidyUp(
  { runtime: { store, healed }, job }: RunOptions,
  { run, stage }: { run: string; stage: RunStage },
): Promise<RunRow | undefined> {
  if (stage.state !== 'stopped' && healed.suspects.delete(job.name)) await clearSuspect(store, job.name);
  // The folder is still needed if the run's payload is owed.
  if (stage.state !== 'owed') store.payloads.leave(run);
  await store.generations.leave(run);
  await store.attemptFiles.sweep();
  if (job.extract?.write !== undefined) await store.generations.prune(job.name);
  return store.runs.find(run);
}

/** Ignores a disk error after the run has ended, because the next start completes the work. */
function otherThanDisk(error: unknown): undefined {
  if (!isUnwritable(error)) throw error;
}

/**
 * Begins the run and returns its ID. Undefined for a retry if a newer result, a rollback or a hold has ended the run.
 */
function begin({ runtime, job, origin, firedAt, begun, attempt }: RunOptions): Promise<string | undefined> {
  return runtime.store.transactionOn([jobLock(job.name)], async (parts) => {
    const former = attempt?.run;
    if (former !== undefined && !(await parts.retries.begin(former))) return undefined;
    const run = former ?? (await parts.runs.begin({ job: job.name, origin, firedAt }));
    await begun?.(parts, run);
    return run;
  });
}

/** Data that the stages of a run with an extract share. */
interface Run {
  readonly id: string;
  readonly place: ResumePoint;
  /** What the guards need to check the run's result. */
  readonly judged: { readonly watch?: GuardCounters; readonly logicalAt?: number };
  readonly warnings: RunWarnings;
}

async function runStages(given: RunOptions, id: string, warnings: RunWarnings): Promise<RunStage> {
  const { runtime, job, staged, logicalAt } = given;
  if (job.extract === undefined) return refreshTargets(given, id);
  // Check this first: if the target doesn't exist yet, don't read the source.
  const address = await addressOf(runtime.store, job);
  // Jobs that read this job's rows need a payload, even if the instance already shows the rows.
  const mustRecord = await runtime.store.goodPayloads.lacksRows(job.name);
  // If an earlier process ended before it did this, do it before the source is read again.
  await actAfterDelivery(given);
  const place = await findResumePoint(runtime.store, { job, run: id, address, staged, mustRecord });
  await refuseStartOver(given, place, address);
  const watch = GuardCounters.of(job, runtime.clock.now());
  const run = { id, place, judged: { watch, logicalAt }, warnings };
  // Save the warnings before the payload is owed, so that a crash can't separate the payload from its warnings.
  const keepWarnings = () => runtime.store.runs.keepWarnings(id, warnings.list);
  const draft = await extract(given, requestsOnce(job.extract, given.attempt), run).catch(async (thrown: unknown) => {
    await keepWarnings();
    throw thrown;
  });
  try {
    await keepWarnings();
    // Another process, with a former config, may have moved files while this run was looking for them.
    await refuseStartOver(given, place, address);
    if ('unchanged' in draft) return await settleUnchanged(given, { ...run, address }, draft.watermark);
    return await settleDraft(mustRecord ? { ...given, job: { ...job, always: true } } : given, draft, run);
  } finally {
    if ('discard' in draft) await draft.discard();
  }
}

/**
 * Throws if the job would read everything again, but it has moved or deleted a part of it, or a job has whose rows the
 * instance shows, such as this job under its former name.
 */
async function refuseStartOver(
  { runtime: { store }, job }: RunOptions,
  { watermark }: ResumePoint,
  address: TargetAddress | undefined,
): Promise<void> {
  if (watermark !== undefined) return;
  const key = address && instanceKeyOf({ destination: job.destination, ...address });
  const last = key === undefined || !mayAct(job) ? undefined : await store.goodPayloads.last(key);
  for (const name of new Set([job.name, last?.job ?? job.name])) {
    const run = await findInputConsumer(store.settings, name);
    if (run !== undefined) throw historyLostProblem(job, { run, consumer: name });
  }
}

/**
 * From the second attempt on, each request is retried at most once. If every attempt retried each request several
 * times, that would exhaust a vendor's limits.
 */
function requestsOnce(what: Extract, attempt: Attempt | undefined): Extract {
  const { source } = what;
  const { retries } = source.options;
  if (attempt === undefined || attempt.number === 1 || typeof retries !== 'number' || retries <= 1) return what;
  return { ...what, source: { ...source, options: { ...source.options, retries: 1 } } };
}

async function extract(
  given: RunOptions,
  what: Extract,
  { id, place, judged, warnings }: Run,
): Promise<DraftPayload | Unchanged> {
  const { runtime, job, config, signal } = given;
  const { store, clock, events, log, logins, loginGate, room } = runtime;
  const { watermark, keptRows } = place;
  const { watch, logicalAt } = judged;
  const login = logins.of(what.source);
  const guard = guardSource(loginGate, what.source);
  return runPipeline({
    extract: what,
    folder: config.folder,
    spool: store.payloads.folderOf(id),
    durable: store.durable,
    signal,
    clock,
    emit: events.emit,
    log: log.with({ job: job.name, run: id }),
    warn: warnings.add,
    job: job.name,
    run: id,
    guard,
    login,
    logicalAt,
    room,
    rowsOf: jobRowsFrom(store),
    watermark,
    attemptFacts: await openHandedOn(given, id),
    keptRows,
    onBatch: watch === undefined ? undefined : (batch) => watch.take(batch),
  });
}

/** Settles the run according to its result. If the result is owed and `deliverUntil` is set, also delivers it. */
async function settleDraft(given: RunOptions, payload: DraftPayload, { id, place, judged }: Run): Promise<RunStage> {
  const { runtime, job, deliverUntil } = given;
  const { reading, shape } = place;
  const { manifest, watermark: text } = payload;
  const result = await settle(runtime.gateway, {
    job,
    run: id,
    payload,
    watermark: text === undefined ? undefined : { reading, text },
    generation: shape === undefined || manifest === undefined ? undefined : { reading, shape, manifest },
    ...judged,
  });
  if ('problem' in result) return { state: result.state, problem: result.problem.at(placeOf(given)) };
  if (result.state !== 'owed' || deliverUntil === undefined) return { state: result.state };
  return deliverNow(given, result.row);
}

/** Ends a run whose source has no changes. Stores the new watermark but creates no payload. */
async function settleUnchanged(
  { runtime, job, attempt }: RunOptions,
  { id: run, place: { reading, watermark: former }, address }: Run & { readonly address: TargetAddress },
  text: string | undefined,
): Promise<RunStage> {
  const key = instanceKeyOf({ destination: job.destination, ...address });
  const keys = [jobLock(job.name), instanceLock(key)];
  await runtime.store.transactionOn(keys, async ({ runs, watermarks, receipts }) => {
    await runs.assertOwn(run);
    if (text !== undefined && former !== undefined) await watermarks.renew({ job: job.name, reading, former, text });
    const asOf = attempt?.handedOn.since ?? (await runs.find(run))?.started_at ?? 0;
    await receipts.recheck(key, { job: job.name, asOf });
    await runs.finish(run, { state: 'unchanged', rows: 0, bytes: 0 });
  });
  return { state: 'unchanged' };
}

/** Sends the run's payload. */
async function deliverNow(
  { runtime: { gateway }, origin, signal, deliverUntil }: RunOptions,
  row: OutboxRow,
): Promise<RunStage> {
  const [result] = await deliverRows([row], { gateway, signal, priority: origin, until: deliverUntil });
  if (result === undefined) return { state: 'superseded' };
  if (signal.aborted && result.state === 'waiting_retry') return { state: 'owed' };
  const { state, until, problem } = result;
  return { state, until, problem };
}
