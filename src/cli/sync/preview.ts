import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config, Job, Source } from '../../config/config.ts';
import type { ResumePoint } from '../../daemon/run/keep-rows.ts';
import type { TargetAddress } from '../../delivery/address.ts';
import type { ResultCandidate } from '../../delivery/verdict.ts';
import { systemClock } from '../../lib/clock.ts';
import { quietLog } from '../../lib/log.ts';
import { toProblem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import { RunWarnings } from '../../lib/run-warnings.ts';
import type { LoginRegistry } from '../../oauth/login-registry.ts';
import type { LoginGuard } from '../../pipeline/source-reader-options.ts';
import type { Batch } from '../../sdk/batch.ts';
import { openExistingStore } from '../../state/open-existing-store.ts';
import { type InstanceKey, instanceKeyOf } from '../../state/outbox/instance-key.ts';
import type { Store } from '../../state/store.ts';
import { exit, isBrokenInstallation } from '../exit.ts';
import { jsonOutput } from '../output/json-output.ts';
import { type ShownPreview, shownJson, shownText } from './shown-preview.ts';

const rowsShown = 10;

interface PreviewOptions {
  readonly config: Config;
  readonly jobs: readonly Job[];
  /** Jobs that were excluded because of config errors. */
  readonly refused: readonly string[];
  readonly json: boolean;
  /** Whether to compare the result with the instance's last payload. */
  readonly diff: boolean;
  /** Path of the file to write the payload to. Allowed only if there's a single job. */
  readonly file?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Dry run: extracts and encodes each job's data, and shows the first rows and what a real run would send. Returns the
 * exit code.
 */
export async function showPreviews(given: PreviewOptions): Promise<number> {
  const { config, refused, json, diff, file, signal } = given;
  const jobs = file === undefined ? given.jobs : [await exported(given.jobs, file)];
  const { store, logins } = await openForPreview(config, jobs);
  const all: ShownPreview[] = [];
  try {
    for (const job of jobs) {
      const previewing = { config, store, logins, signal };
      const preview = diff ? previewWithDifference : file === undefined ? previewJob : exportTo(file);
      const shown = await preview(job, previewing);
      all.push(shown);
      if (!json) process.stdout.write(`${redact(shownText(shown))}\n`);
    }
  } finally {
    await logins?.close();
    await store?.close();
  }
  const code = refused.length > 0 ? exit.usage : exitCodeOf(all);
  if (json) process.stdout.write(`${redact(jsonOutput({ exit_code: code, jobs: all.map(shownJson), refused }))}\n`);
  return code;
}

function exitCodeOf(all: readonly ShownPreview[]): number {
  const problems = all.flatMap(({ problem }) => problem ?? []);
  if (isBrokenInstallation(problems)) return exit.bug;
  return problems.length > 0 ? exit.failed : exit.ok;
}

/**
 * If a job has a login, opens the real state, because a token may have to be renewed and stored. Otherwise, the preview
 * writes nothing to the state.
 */
async function openForPreview(
  config: Config,
  jobs: readonly Job[],
): Promise<{ store: Store | undefined; logins?: LoginRegistry }> {
  if (jobs.every(({ extract }) => extract?.source.login === undefined))
    return { store: await openExistingStore(config) };
  const [{ openStore }, { LoginRegistry }] = await Promise.all([
    import('../../state/store.ts'),
    import('../../oauth/login-registry.ts'),
  ]);
  const store = await openStore(config.state, { database: config.stateDatabase });
  return { store, logins: new LoginRegistry({ store, clock: store.clock, emit: () => undefined, ...config }) };
}

interface Previewing {
  readonly config: Config;
  readonly store: Store | undefined;
  readonly logins: LoginRegistry | undefined;
  readonly signal: AbortSignal;
  /** Path of the file to write the payload to. */
  readonly payloadPath?: string;
  /** True if the payload is only written to a file. The target then isn't checked. */
  readonly isForFile?: boolean;
}

async function exported(jobs: readonly Job[], file: string): Promise<Job> {
  const { jobForFile } = await import('./export-job.ts');
  return jobForFile(jobs, file);
}

const exportTo =
  (file: string) =>
  async (job: Job, previewing: Previewing): Promise<ShownPreview> => {
    const { replaceFile } = await import('./export-job.ts');
    return replaceFile(file, async (payloadPath) => {
      const shown = await previewJob(job, { ...previewing, payloadPath, isForFile: true });
      const isDone = shown.preview !== undefined;
      return { isDone, result: { ...shown, target: file, would: isDone ? 'written' : 'nothing was written' } };
    });
  };

async function previewWithDifference(job: Job, previewing: Previewing): Promise<ShownPreview> {
  const [{ makeTempFolder }, { comparePayloads }, { payloadFileOf }] = await Promise.all([
    import('../../lib/temp-folder.ts'),
    import('../payloads/compare-payloads.ts'),
    import('../../daemon/run/payload-file.ts'),
  ]);
  const folder = await makeTempFolder(`payload-${process.pid}`);
  try {
    const path = join(folder, 'payload');
    const shown = await previewJob(job, { ...previewing, payloadPath: path });
    if (shown.preview === undefined) return shown;
    const { store } = previewing;
    const address = await addressIn(store, job);
    const good = address && (await store!.goodPayloads.last(keyOf(job, address)));
    if (good !== undefined) await store!.blobs.ensureHere(good.path);
    const last = good && payloadFileOf(good);
    const now = { path, format: shown.preview.format, options: job.extract?.formatOptions ?? {} };
    return { ...shown, compared: await comparePayloads({ last, now, job }) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function previewJob(job: Job, previewing: Previewing): Promise<ShownPreview> {
  const { config, store, logins, signal, payloadPath, isForFile } = previewing;
  const { extract } = job;
  const target = targetText(job);
  if (extract === undefined) return { job: job.name, target, would: 'would start the refresh with one request' };
  const { previewPipeline } = await import('../../pipeline/preview-pipeline.ts');
  const { jobRowsFrom } = await import('../../daemon/run/job-rows.ts');
  const [clock, log, run] = [systemClock, quietLog, 'preview'];
  const login = logins?.of(extract.source);
  const warnings = new RunWarnings(undefined, job.guards);
  const given = {
    login,
    guard: store === undefined ? undefined : await guardOf(extract.source, { config, store }),
    rowsOf: jobRowsFrom(store),
    extract,
    folder: config.folder,
    signal,
    clock,
    log,
    warn: warnings.add,
    job: job.name,
    run,
    emit: () => undefined,
  };
  try {
    const { GuardCounters } = await import('../../guards/guard-counters.ts');
    const asOf = clock.now();
    const watch = GuardCounters.of(job, asOf);
    const onBatch = watch === undefined ? {} : { onBatch: (batch: Batch) => watch.take(batch) };
    const address = await addressIn(store, job);
    const place = await checkpointOf(job, { store, address });
    const kept = payloadPath === undefined ? {} : { payloadPath };
    const preview = await previewPipeline({
      ...{ ...given, ...place, ...onBatch, ...kept },
      rows: rowsShown,
      isDryRun: payloadPath === undefined,
    });
    if (isForFile) return { job: job.name, target, preview, would: '', ...warned(warnings) };
    if (preview.ending?.isSample === true) {
      const would = 'would read more rows than this dry run, which read only a sample';
      return { job: job.name, target, preview, would, ...warned(warnings) };
    }
    const candidate = { job, payload: { ...preview, asOf }, watch };
    const verdict = await whatItWouldDo(candidate, { store, address });
    return { job: job.name, target, preview, ...verdict, ...warned(warnings) };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const problem = toProblem(thrown, { code: 'RUN_THREW', family: 'bug' });
    return { job: job.name, target, problem, would: 'would send nothing', ...warned(warnings) };
  }
}

/** A dry run logs in to the source like a real run, so the login breaker applies. */
async function guardOf(source: Source, { config, store }: { config: Config; store: Store }): Promise<LoginGuard> {
  const [{ LoginBreaker }, { guardSource }] = await Promise.all([
    import('../../daemon/login-holds/login-breaker.ts'),
    import('../../daemon/login-holds/source-session.ts'),
  ]);
  return guardSource(new LoginBreaker({ store, clock: store.clock, emit: () => undefined, ...config }), source);
}

const warned = ({ list }: RunWarnings): Pick<ShownPreview, 'warnings'> => (list.length === 0 ? {} : { warnings: list });

/**
 * The state and the target's address. `store` is undefined if there's no state; `address` is undefined if a declared
 * data source hasn't been created.
 */
interface Target {
  readonly store: Store | undefined;
  readonly address: TargetAddress | undefined;
}

/** The checkpoint of a job that keeps rows. For other jobs, the preview reads all rows. */
async function checkpointOf(
  job: Job,
  { store, address }: Target,
): Promise<Pick<ResumePoint, 'watermark' | 'keptRows'>> {
  if (job.extract?.write === undefined) return {};
  const run = 'preview';
  if (store === undefined) return { keptRows: { folder: '', run, mustSend: true } };
  const { findResumePoint } = await import('../../daemon/run/keep-rows.ts');
  const { watermark, keptRows } = await findResumePoint(store, { job, run, address });
  return { watermark, keptRows };
}

async function whatItWouldDo(
  candidate: ResultCandidate,
  { store, address }: Target,
): Promise<Pick<ShownPreview, 'would' | 'problem'>> {
  const { foretoldProblem, verdictOf } = await import('../../delivery/verdict.ts');
  const { job } = candidate;
  const isKnown = store !== undefined && address !== undefined;
  const verdict = await verdictOf(candidate, isKnown ? { store, key: keyOf(job, address) } : undefined);
  if (verdict.state === 'failed') return { problem: verdict.problem, would: 'would send nothing' };
  if (verdict.state === 'quarantined') return { problem: foretoldProblem(job, verdict), would: 'would be quarantined' };
  if (verdict.state === 'unchanged') return { would: 'unchanged: would make no request' };
  // A declared data source may not have been created yet.
  const isThere = job.target.kind !== 'datasource' || address !== undefined;
  return { would: isThere ? 'would be sent with one request' : 'would be sent after "sluice apply --yes"' };
}

async function addressIn(store: Store | undefined, job: Job): Promise<TargetAddress | undefined> {
  if (store === undefined) return undefined;
  const { findAddress } = await import('../../delivery/address.ts');
  return findAddress(store, job);
}

function keyOf(job: Job, address: TargetAddress): InstanceKey {
  return instanceKeyOf({ destination: job.destination, ...address });
}

function targetText({ target, destination }: Job): string {
  if (target.kind === 'instance') return `instance ${target.instance} at ${destination.name}`;
  if (target.kind === 'datasource') return `data source "${target.declaration.name}" at ${destination.name}`;
  return `refresh of ${target.datasources.join(', ')} at ${destination.name}`;
}
