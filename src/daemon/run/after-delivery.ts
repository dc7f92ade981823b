import type { Config, Job } from '../../config/config.ts';
import { findAddress } from '../../delivery/address.ts';
import { type Problem, toProblem } from '../../lib/problem.ts';
import { type RunWarning, RunWarnings } from '../../lib/run-warnings.ts';
import type { DeliveredRead } from '../../sdk/delivered-read.ts';
import type { OptionSet } from '../../sdk/option.ts';
import { actionLease, markInputConsumed } from '../../state/checkpoints/consumed-input.ts';
import { jobLock } from '../../state/engine/lock-keys.ts';
import { warningsOf } from '../../state/runs/runs.ts';
import type { WatermarkRow } from '../../state/tables.ts';
import type { Runtime } from '../compose.ts';
import { queryFingerprint } from '../config/fingerprints.ts';
import { guardSource } from '../login-holds/source-session.ts';
import { forgetActionFailure, saveActionFailure } from './action-failures.ts';

export interface AfterDeliveryOptions {
  readonly runtime: Runtime;
  readonly config: Pick<Config, 'folder'>;
  readonly job: Job;
  readonly signal: AbortSignal;
}

/** What came of it. All fields are absent if nothing was left to do, or if everything was done. */
export interface ActionResult {
  /** Another process is doing it. */
  readonly isBusy?: true;
  readonly problem?: Problem;
  /** The warning that was added to the run that was delivered. */
  readonly warning?: RunWarning;
}

/** Whether a job's query may want something done in its source after a delivery. */
export const mayAct = ({ extract }: Job): boolean =>
  extract?.source.connector.actsAfterDeliveryBy?.(extract.query) !== undefined;

/**
 * Does what a job's query wants done in its source once its rows have been delivered, such as moving the files that
 * were read. What is left to do is part of the watermark, which the transaction that made the payload owed has
 * advanced: a payload that is quarantined, dead or rolled back therefore leaves nothing to do, and after a crash, the
 * next call continues. One process at a time does it. A run of the job may be in progress. Never throws for the source's
 * errors: the rows have been delivered, so a failure is only a warning of the delivered run and a condition of the job.
 */
export async function actAfterDelivery(given: AfterDeliveryOptions): Promise<ActionResult> {
  const { runtime, job } = given;
  const { store } = runtime;
  if (!mayAct(job)) return {};
  if ((await findDue(given)) === undefined) {
    await forgetActionFailure(store, job.name);
    return {};
  }
  const lease = await store.leases.take(actionLease(job.name));
  if (lease === undefined) return { isBusy: true };
  try {
    const due = await findDue(given);
    const problem = due && (await act(given, due));
    if (due === undefined || problem === undefined || given.signal.aborted) return {};
    await saveActionFailure(store, job.name, problem);
    return { problem, ...(await warn(runtime, due.row, problem)) };
  } finally {
    await lease.release();
  }
}

/** A watermark that records something to do. */
interface Due {
  readonly row: WatermarkRow;
  readonly read: DeliveredRead<OptionSet>;
}

async function findDue({ runtime: { store }, job }: AfterDeliveryOptions): Promise<Due | undefined> {
  const { query, timezone, source } = job.extract!;
  const [row] = await store.watermarks.all(job.name);
  if (row === undefined || row.reading !== queryFingerprint(job, await findAddress(store, job))) return undefined;
  const state = (await store.runs.find(row.run))?.state;
  const isDelivered = state === 'delivered' || state === 'unchanged';
  const read = { query, timezone, watermark: row.text, isDelivered };
  return source.connector.isActionDue?.(read) === true ? { row, read } : undefined;
}

async function act(
  { runtime, job, config, signal }: AfterDeliveryOptions,
  { row, read }: Due,
): Promise<Problem | undefined> {
  const { store, log, logins, loginGate, events } = runtime;
  const { source } = job.extract!;
  const { connector, options } = source;
  const place = { job: job.name, source: source.name };
  const context = { ...read, source: options, folder: config.folder, signal };
  try {
    await markInputConsumed(store.settings, job.name, row.run);
    const guard = guardSource(loginGate, source);
    const { watermark, actions, problem } = await guard({ signal, login: logins.of(source) }, (logIn) =>
      connector.afterDelivery!({ ...context, log: log.with({ job: job.name, run: row.run }), ...logIn }),
    );
    await store.transactionOn([jobLock(job.name)], ({ watermarks }) =>
      watermarks.replace({ job: job.name, former: row.text, text: watermark }),
    );
    if (actions > 0) events.emit('source.updated', { ...place, run: row.run, actions });
    if (problem === undefined) await forgetActionFailure(store, job.name);
    return problem?.at(place);
  } catch (thrown) {
    return toProblem(thrown, { code: 'AFTER_DELIVERY_THREW', family: 'bug' }).at(place);
  }
}

/** Adds the failure to the delivered run's warnings, unless the run already has it. */
async function warn(
  { store, events }: Pick<Runtime, 'store' | 'events'>,
  { job, run }: Pick<WatermarkRow, 'job' | 'run'>,
  { code, message, seen, next }: Problem,
): Promise<Pick<ActionResult, 'warning'>> {
  const row = await store.runs.find(run);
  if (row === undefined) return {};
  const warnings = new RunWarnings();
  for (const known of warningsOf(row)) warnings.add(known);
  const before = warnings.list.length;
  warnings.add({ code, message, seen, next });
  const warning = warnings.list[before];
  if (warning === undefined) return {};
  events.emit('run.warning', { job, run, ...warning });
  await store.runs.keepWarnings(run, warnings.list);
  return { warning };
}
