import type { Config, Extract, Job } from '../../config/config.ts';
import { findAddress } from '../../delivery/address.ts';
import type { Manifest } from '../../kept-rows/manifest.ts';
import { newId } from '../../lib/ids.ts';
import { Problem } from '../../lib/problem.ts';
import { RunWarnings } from '../../lib/run-warnings.ts';
import { stageRange } from '../../pipeline/stage-range.ts';
import type { Range } from '../../sdk/extraction.ts';
import type { Backfill } from '../../state/checkpoints/backfills.ts';
import type { DecidedBy } from '../../state/runs/audit.ts';
import { guardSource } from '../login-holds/source-session.ts';
import { jobRowsFrom } from './job-rows.ts';
import { findResumePoint } from './keep-rows.ts';
import { chunksOf } from './range-chunks.ts';
import { runUnderLease, withJob } from './run-job.ts';
import type { RunOptions } from './run-options.ts';
import type { RunOutcome } from './run-outcome.ts';

export interface BackfillOptions extends RunOptions {
  readonly config: Pick<Config, 'folder'>;
  /** As the person wrote it. */
  readonly range: Range;
  /** The size of a chunk: `1d`, `1mo` or a number; empty: the whole range is one chunk. */
  readonly chunk: string;
  /** Discards what an unfinished backfill has already read, and starts over. */
  readonly restart: boolean;
  readonly by: DecidedBy;
  /** Called after each chunk has been written durably. */
  readonly onChunk?: (chunk: Range & { readonly rows: number }) => void;
}

/**
 * Backfills a past range: reads the range chunk by chunk and merges the rows into the job's kept rows. Then one run
 * delivers everything. The watermark doesn't change. A crash loses at most one chunk; repeating the call resumes the
 * backfill. Throws a Problem if the backfill can't begin or a chunk can't be read. The outcome contains the run's
 * result.
 */
export async function backfillJob(given: BackfillOptions): Promise<RunOutcome> {
  const extract = ableOf(given.job);
  const zone = extract.timezone ?? 'UTC';
  // Validates the whole range before reading anything.
  for (const _ of chunksOf(given.range, { chunk: given.chunk, zone }));
  return withJob(given, async () => {
    const warnings = new RunWarnings(undefined, given.job.guards);
    const staged = await stageAll(given, extract, warnings);
    return runUnderLease({ ...given, warned: warnings.list, ...(staged === undefined ? {} : { staged }) });
  });
}

async function stageAll(given: BackfillOptions, extract: Extract, warnings: RunWarnings): Promise<Backfill['staged']> {
  const { runtime, job, chunk, range, onChunk } = given;
  const { store, clock, log, logins, loginGate, room } = runtime;
  const address = await findAddress(store, job);
  const { reading, watermark, keptRows } = await findResumePoint(store, { job, run: newId(), address });
  const current = keptRows?.current;
  if (keptRows === undefined || current === undefined) throw nothingKept(job);
  let backfill = await begin(given, { reading, current });
  const login = logins.of(extract.source);
  const left = { from: backfill.reached, to: range.to };
  for (const one of backfill.reached === range.to ? [] : chunksOf(left, { chunk, zone: extract.timezone ?? 'UTC' })) {
    const run = newId();
    const held = await store.generations.hold(run);
    try {
      const { staged, rows } = await stageRange({
        guard: guardSource(loginGate, extract.source),
        rowsOf: jobRowsFrom(store),
        ...{ extract, folder: given.config.folder, signal: given.signal, clock, range: one },
        log: log.with({ job: job.name }),
        warn: warnings.add,
        ...(login === undefined ? {} : { login }),
        ...(room === undefined ? {} : { room }),
        ...(watermark === undefined ? {} : { watermark }),
        set: { ...keptRows, run, current, ...(backfill.staged === undefined ? {} : { staged: backfill.staged }) },
      });
      backfill = { ...backfill, reached: one.to, staged };
      await store.backfills.set(backfill);
      onChunk?.({ ...one, rows });
    } finally {
      await store.generations.leave(run);
      await held?.release();
    }
  }
  return backfill.staged;
}

/**
 * The unfinished backfill, if it still matches these options; otherwise, a new backfill, whose user is recorded in the
 * audit log.
 */
async function begin(
  { runtime, job, range, chunk, restart, by }: BackfillOptions,
  { reading, current }: { reading: string; current: Manifest },
): Promise<Backfill> {
  const fresh = { job: job.name, reading, lower: range.from, upper: range.to, chunk, reached: range.from };
  return runtime.store.transaction(async ({ backfills, audit, generations }) => {
    const known = await backfills.find(job.name);
    if (known !== undefined && known.reading === reading && !restart) {
      if (known.lower !== range.from || known.upper !== range.to) throw anotherRange(known);
      if (fits(known, current)) return known;
    }
    const backfill: Backfill = { ...fresh, begunAt: runtime.clock.now() };
    await backfills.set(backfill);
    await audit.write({ by, action: 'backfill', job: job.name });
    await generations.prune(job.name);
    return backfill;
  });
}

/** If compaction has merged later runs with earlier ones into one file, it's no longer known which rows are newer. */
function fits({ staged }: Backfill, { segments }: Manifest): boolean {
  const whole = segments[0]?.asOf ?? 0;
  return staged === undefined || staged.segments.every(({ asOf }) => asOf > whole);
}

/** Throws if the job or its connector doesn't support backfills. */
function ableOf({ name, extract, line }: Job): Extract {
  const where = { job: name, line };
  if (extract?.write === undefined) {
    throw new Problem({
      code: 'BACKFILL_KEEPS_NOTHING',
      family: 'config',
      message:
        'The job keeps no rows, so there is nothing to backfill: each run reads everything that its instance shows',
      where,
      allowed: 'a job with write: append, or write: {disposition: merge, key: [id]}',
      next: `sluice sync ${name}`,
    });
  }
  const { connector } = extract.source;
  if (connector.rangesBy?.(extract.query) !== undefined) return extract;
  throw new Problem({
    code: 'BACKFILL_NO_RANGES',
    family: 'config',
    message: `${connector.title} cannot read a past range with this query`,
    where,
    seen: `connector ${connector.id}`,
    allowed:
      'a db or simple_rest query with a cursor, or a stream of a service with dates (start_date, end_date) or incremental: true',
    next:
      extract.write.disposition === 'append'
        ? `"sluice state clear ${name}" makes the next run read everything; rows that the source no longer has will be lost, so run "sluice backup FOLDER" first`
        : `let the job read everything again: sluice state clear ${name}`,
  });
}

function nothingKept({ name }: Job): Problem {
  return new Problem({
    code: 'BACKFILL_NO_ROWS',
    family: 'job',
    message: 'The job has no kept rows yet, so there is nothing to backfill',
    where: { job: name },
    next: `sluice sync ${name}`,
  });
}

function anotherRange({ job, lower, upper, reached }: Backfill): Problem {
  return new Problem({
    code: 'BACKFILL_UNFINISHED',
    family: 'config',
    message: 'Another backfill of this job is incomplete; nothing was changed',
    where: { job },
    seen: `from ${lower} to ${upper}, read up to ${reached}`,
    next: `finish that backfill with --from ${lower} --to ${upper}, or discard it with --restart`,
  });
}
