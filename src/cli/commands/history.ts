import { type Command, InvalidArgumentError } from 'commander';
import type { RunWarning } from '../../lib/run-warnings.ts';
import { isFailedRun } from '../../state/runs/failed-run.ts';
import { type PastAttempt, pastAttempts, spanOf } from '../../state/runs/past-attempts.ts';
import { warningsOf } from '../../state/runs/runs.ts';
import type { Store } from '../../state/store.ts';
import type { OutboxRow, RunRow, SkipRow, ThrottledJobRow } from '../../state/tables.ts';
import type { CliCommand } from '../command.ts';
import { chooseJobs, configFlag, openConfig } from '../config-file.ts';
import { bytesText, countText, durationText, instantText } from '../output/format.ts';
import { jsonOutput } from '../output/json-output.ts';
import { toneOf } from '../output/paint.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { renderTable } from '../output/table.ts';

interface Flags {
  readonly config: string;
  readonly limit: number;
  readonly failed?: true;
  readonly run?: string;
  readonly json?: true;
}

/** Number of runs to search for failed ones. */
const maxSearched = 100_000;

async function run(job: string | undefined, { config: file, limit, failed, run: id, json }: Flags): Promise<void> {
  const loaded = await openConfig(file);
  const { openExistingStore } = await import('../../state/open-existing-store.ts');
  const store = await openExistingStore(loaded.config);
  try {
    if (id !== undefined) return await tellRun(id, { store, json: json === true });
    const filter = job === undefined ? {} : { job };
    const searched = failed === true ? maxSearched : limit;
    const rows = (await store?.runs.history({ ...filter, limit: searched })) ?? [];
    // If a job is removed from the config, its history is kept. Only a name without any history is therefore invalid.
    if (job !== undefined && rows.length === 0) chooseJobs(loaded, [job]);
    const shown = rows.filter(({ state }) => failed !== true || isFailedRun(state)).slice(0, limit);
    const throttles = failed === true ? [] : ((await store?.throttledJobs.history({ ...filter, limit })) ?? []);
    const skips = failed === true ? [] : ((await store?.skips.history({ ...filter, limit })) ?? []);
    const lines = [...shown.map(ofRun), ...throttles.map(ofThrottle), ...skips.map(ofSkip)]
      .sort((a, b) => b.started_at - a.started_at)
      .slice(0, limit);
    process.stdout.write(`${sanitizeOutput(json === true ? jsonOutput(lines) : textOf(lines))}\n`);
  } finally {
    await store?.close();
  }
}

async function tellRun(id: string, { store, json }: { store: Store | undefined; json: boolean }): Promise<void> {
  const { findRun, runDetail } = await import('../output/run-detail.ts');
  const row = await findRun(id, store);
  const payload = await store?.outbox.ofRun(id);
  const text = json ? jsonOutput({ ...ofRun(row), ...payloadOf(payload) }) : runDetail(row, payload);
  process.stdout.write(`${sanitizeOutput(text)}\n`);
}

/** A run's payload: its target, its hash, and the path of its file as long as the file is kept. */
function payloadOf(payload: OutboxRow | undefined): object {
  if (payload === undefined) return {};
  const { destination, instance, sha256, attempts: upload_attempts, as_of } = payload;
  const isKept = payload.state === 'dead' || payload.state === 'quarantined';
  return { destination, instance, sha256, upload_attempts, as_of, ...(isKept ? { path: payload.path } : {}) };
}

/** A line for a run, for a period in which a job was throttled, or for skipped firings. */
interface Line
  extends Pick<
    RunRow,
    'job' | 'started_at' | 'ended_at' | 'took_ms' | 'bytes' | 'requests' | 'code' | 'message' | 'next'
  > {
  readonly run: string | null;
  readonly origin: RunRow['origin'];
  readonly state: RunRow['state'] | 'throttled' | 'skipped';
  readonly rows: number | null;
  readonly warnings?: readonly RunWarning[];
  /** Number of attempts; undefined for a run with only one attempt. */
  readonly attempts?: number;
  readonly last_attempt_at?: number;
  readonly failed_attempts?: readonly PastAttempt[];
}

function ofThrottle({ job, since, until, ended_at, message }: ThrottledJobRow): Line {
  const none = { rows: null, bytes: null, requests: 0, code: null, next: null };
  const end = ended_at ?? (until <= Date.now() ? until : null);
  return {
    run: null,
    job,
    origin: 'schedule',
    state: 'throttled',
    started_at: since,
    ended_at: end,
    took_ms: end === null ? null : end - since,
    ...none,
    message,
  };
}

function ofSkip({ job, first_at, last_at, firings, reason }: SkipRow): Line {
  return {
    run: null,
    job,
    origin: 'schedule',
    state: 'skipped',
    started_at: first_at,
    ended_at: firings === 1 ? null : last_at,
    took_ms: firings === 1 ? null : last_at - first_at,
    ...{ rows: null, bytes: null, requests: 0, code: null, next: null },
    message: firings === 1 ? reason : `${countText(firings)} firings: ${reason}`,
  };
}

function ofRun(row: RunRow): Line {
  const { id: run, job, origin, state, ended_at, row_count: rows, bytes, requests, code, message, next } = row;
  const { started_at, took_ms } = spanOf(row);
  const facts = { run, job, origin, state, started_at, ended_at, took_ms, rows, bytes, requests };
  const problem = { code, message, next, ...attemptsOf(row) };
  return { ...facts, ...problem, ...(row.warnings === null ? {} : { warnings: warningsOf(row) }) };
}

/** For a run with several attempts: the number of attempts, the start of the last one, and the earlier failures. */
function attemptsOf(row: RunRow): Pick<Line, 'attempts' | 'last_attempt_at' | 'failed_attempts'> {
  const failed_attempts = pastAttempts(row);
  if (row.attempts === 1 && failed_attempts.length === 0) return {};
  return { attempts: row.attempts, last_attempt_at: row.started_at, failed_attempts };
}

/** The first warning and the number of further warnings. */
function warningsText([first, ...more]: readonly RunWarning[] = []): string {
  if (first === undefined) return '';
  return `warning: ${first.message}${more.length === 0 ? '' : ` (and ${countText(more.length)} more)`}`;
}

function textOf(rows: readonly Line[]): string {
  if (rows.length === 0) return 'No runs yet.';
  const right = { align: 'right' as const };
  return renderTable(
    [
      { title: 'started' },
      { title: 'job' },
      { title: 'run' },
      { title: 'result', tone: (text: string) => toneOf(text.split(',')[0]!) },
      { title: 'rows', ...right },
      { title: 'size', ...right },
      { title: 'requests', ...right },
      { title: 'took', ...right },
      { title: 'problem' },
    ],
    rows.map((row) => [
      instantText(row.started_at),
      row.job,
      row.run ?? '–',
      row.attempts === undefined ? row.state : `${row.state}, ${countText(row.attempts)} attempts`,
      row.rows === null ? '–' : countText(row.rows),
      row.bytes === null ? '–' : bytesText(row.bytes),
      row.run === null ? '–' : countText(row.requests),
      row.took_ms === null ? '–' : durationText(row.took_ms),
      row.message ?? warningsText(row.warnings),
    ]),
    { widest: 70, paper: process.stdout },
  );
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Must be a whole number of 1 or more.');
  return value;
}

export default {
  help: {
    examples: [
      ['sluice history', 'the latest runs'],
      ['sluice history orders --failed -n 50', 'failed runs of one job'],
      ['sluice history --run 20261121-033232-87c45a', 'all details of one run'],
    ],
  },
  register(program: Command): void {
    program
      .command('history')
      .description('Lists runs, newest first, with their results, rows, requests and errors.')
      .argument('[job]', 'only this job, even if it is no longer in the config')
      .option(...configFlag)
      .option('-n, --limit <runs>', 'number of runs', positive, 20)
      .option('--failed', 'only failed, dead, quarantined and interrupted runs')
      .option('--run <id>', 'show all details of one run')
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
