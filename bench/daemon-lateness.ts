import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SqliteDatabase, type SqliteValue } from '../src/lib/sqlite.ts';
import { instanceOf, writeFixtures, writeJobs } from './daemon-world.ts';
import { serve } from './service-process.ts';

/** Delays between firings' due times and the starts of their runs, in real milliseconds. */
export interface LatenessSpread {
  readonly runs: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

export interface Lateness extends LatenessSpread {
  /** Time from process start until the schedules are active. */
  readonly startSeconds: number;
  /** The daemon's resident memory at the end. */
  readonly residentMb: number;
}

interface LatenessGiven {
  /** Path of the built package's `sluice` command. */
  readonly sluice: string;
  readonly folder: string;
  readonly jobs: number;
  /** The minute of the hour at which a job is due. `first` is the first measured minute. */
  readonly minuteOf: (job: number, first: number) => number;
  /** Number of measured minutes. */
  readonly minutes: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Time for the daemon to get ready before the first measured minute. */
const readyMs = 45_000;
/** How long to wait for the remaining runs after the last minute. */
const patienceMs = 10 * minuteMs;

/**
 * Runs a daemon process on the real clock. All targets are up to date, so each run reads, encodes, hashes and compares
 * its rows but sends no data. The result therefore shows the daemon's speed and isn't affected by the rate limit.
 */
export async function measureLateness(given: LatenessGiven): Promise<Lateness> {
  const { folder, jobs } = given;
  await mkdir(folder, { recursive: true });
  const service = await serve(folder, ['--memory', '--no-limits', '--fixtures', await writeFixtures(folder, 1)]);
  try {
    const file = await writeJobs(folder, { url: service.url, jobs });
    await pretendAllIsDelivered({ ...given, file });
    return await runFor(given, service.url);
  } finally {
    await service.stop();
  }
}

/** Runs one job, then records its payload as delivered to all other targets. */
async function pretendAllIsDelivered({ sluice, folder, jobs, file }: LatenessGiven & { file: string }): Promise<void> {
  const args = [sluice, 'sync', 'job-0', '--config', file];
  const [code] = await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit');
  if (code !== 0) throw new Error(`the first job ended with ${code}`);
  const database = new SqliteDatabase(join(folder, 'state/sluice.db'));
  try {
    const row = database.prepare('select * from receipts').get<Record<string, SqliteValue>>()!;
    const names = Object.keys(row);
    const values = names.map(() => '?').join(', ');
    const insert = database.prepare(`insert or ignore into receipts (${names.join(', ')}) values (${values})`);
    database.transaction(() => {
      for (let job = 0; job < jobs; job++) insert.run(...Object.values({ ...row, instance: instanceOf(job) }));
    });
  } finally {
    database.close();
  }
}

async function runFor({ sluice, folder, jobs, minuteOf, minutes }: LatenessGiven, url: string): Promise<Lateness> {
  const from = Math.ceil((Date.now() + readyMs) / minuteMs) * minuteMs;
  const first = (from / minuteMs) % 60;
  const minuteOfJob = new Map(Array.from({ length: jobs }, (_, job) => [`job-${job}`, minuteOf(job, first)]));
  const scheduleOf = (job: number): string => `${minuteOfJob.get(`job-${job}`)} * * * *`;
  const file = await writeJobs(folder, { url, jobs, scheduleOf });
  const daemon = spawn(process.execPath, [sluice, 'run', '--config', file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(daemon, 'exit');
  const began = Date.now();
  try {
    await saying(daemon.stdout, 'daemon.started');
    const startSeconds = (Date.now() - began) / 1000;
    if (Date.now() > from) throw new Error(`the daemon took ${startSeconds} s to start, longer than allowed`);
    await wait(from + minutes * minuteMs - Date.now());
    const expected = [...minuteOfJob.values()].filter((minute) => (minute - first + 60) % 60 < minutes).length;
    const late = await latenessIn(folder, { from, expected, minuteOfJob });
    return { ...spreadOf(late), startSeconds, residentMb: await residentMb(daemon.pid!) };
  } finally {
    daemon.kill('SIGTERM');
    await ended;
  }
}

async function saying(stream: NodeJS.ReadableStream, word: string): Promise<void> {
  let said = '';
  stream.setEncoding('utf8');
  await new Promise<void>((resolve, reject) => {
    stream.on('data', (text: string) => {
      said = (said + text).slice(-10_000);
      if (said.includes(word)) resolve();
    });
    stream.on('end', () => reject(new Error(`the daemon ended without logging ${word}: ${said}`)));
  });
}

interface Run {
  readonly job: string;
  readonly state: string;
  readonly started_at: number;
}

/** Waits until all expected runs have started, and returns their delays. */
async function latenessIn(
  folder: string,
  given: { from: number; expected: number; minuteOfJob: ReadonlyMap<string, number> },
): Promise<number[]> {
  const { from, expected, minuteOfJob } = given;
  const database = new SqliteDatabase(join(folder, 'state/sluice.db'), { readOnly: true });
  const begun = database.prepare(
    "select job, state, started_at from runs where origin = 'schedule' and started_at >= ? order by sequence limit ?",
  );
  try {
    for (const end = Date.now() + patienceMs; ; await wait(500)) {
      const runs = begun.all<Run>(from, expected);
      const strange = runs.find(({ state }) => state !== 'unchanged' && state !== 'running');
      if (strange !== undefined) throw new Error(`a run of ${strange.job} ended as ${strange.state}`);
      if (runs.length === expected) return runs.map((run) => lateOf(run, minuteOfJob.get(run.job)!));
      if (Date.now() > end) throw new Error(`${runs.length} of ${expected} runs have started`);
    }
  } finally {
    database.close();
  }
}

/** Time since the clock last showed this minute of the hour. */
function lateOf({ started_at }: Run, minute: number): number {
  return (started_at - minute * minuteMs) % hourMs;
}

export function spreadOf(late: readonly number[]): LatenessSpread {
  const sorted = late.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
  return { runs: sorted.length, p50: at(0.5), p99: at(0.99), most: sorted.at(-1)! };
}

/** Resident memory of a process, in megabytes. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
}
