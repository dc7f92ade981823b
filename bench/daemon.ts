import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { countText, durationText } from '../src/cli/output/format.ts';
import { renderTable } from '../src/cli/output/table.ts';
import { simulate } from '../src/cli/simulate/simulate.ts';
import { loadConfig } from '../src/config/load.ts';
import { type Lateness, measureLateness, residentMb } from './daemon-lateness.ts';
import { referenceJobs, referenceSchedule, writeFixtures, writeJobs } from './daemon-world.ts';
import { installPackage } from './install-package.ts';
import { type Cost, measure, median } from './measure.ts';
import { serve } from './service-process.ts';

/**
 * `npm run bench:daemon -- [--runs 9] [--jobs 10000] [--minutes 3] [--only start|late|memory|requests]`: measures the
 * duration of a one-shot sync, the daemon's start delays with thousands of jobs, its memory use, and the number of
 * requests that it saves by skipping unchanged results.
 */
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '9' },
    jobs: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
});

type Row = readonly [what: string, figure: string];
type Part = (given: { folder: string; sluice: string }) => Promise<Row[]>;

const seconds = (value: number): string => `${value.toFixed(2)} s`;
const megabytes = (value: number): string => `${value.toFixed(0)} MB`;

/**
 * Measures a `sync` of twelve rows in its own process and in a daemon. Compares both with a process that does nothing.
 */
const start: Part = async ({ folder, sluice }) => {
  const service = await serve(folder, ['--memory', '--no-limits', '--fixtures', await writeFixtures(folder, 1)]);
  try {
    const file = await writeJobs(folder, { url: service.url, jobs: 1, always: true });
    const syncs = [];
    const nodes = [];
    for (let run = 0; run <= Number(options.runs); run++) {
      const node = await measure(`${process.execPath} -e 0`);
      const sync = await measure(`${process.execPath} ${sluice} sync --config ${file} --local`);
      if (run === 0) continue;
      nodes.push(node);
      syncs.push(sync);
    }
    const handed = await measureHandedOver(sluice, file);
    const [sync, node] = [median(syncs), median(nodes)];
    return [
      [
        'one `sync` of one small job, from start to end',
        `${seconds(sync.wall)}, ${seconds(sync.cpu)} of CPU, ${megabytes(sync.peakMb)} at most`,
      ],
      ['of it Node itself', seconds(node.wall)],
      ['the same, handed over to a daemon', `${seconds(handed.wall)}, ${seconds(handed.cpu)} of CPU in the client`],
    ];
  } finally {
    await service.stop();
  }
};

async function measureHandedOver(sluice: string, file: string): Promise<Cost> {
  const daemon = spawn(process.execPath, [sluice, 'run', '--config', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [daemon.stdout, daemon.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (log += text));
  }
  const ended = once(daemon, 'exit');
  try {
    while (!existsSync(join(dirname(file), 'state/daemon.sock'))) {
      if (daemon.exitCode !== null) throw new Error(`sluice run ended with ${daemon.exitCode}\n${log}`);
      await wait(100);
    }
    const syncs = [];
    for (let run = 0; run <= Number(options.runs); run++) {
      const sync = await measure(`${process.execPath} ${sluice} sync --config ${file}`);
      if (log.split('sync.handed_over').length <= run + 1) throw new Error(`not handed over\n${log}`);
      if (run > 0) syncs.push(sync);
    }
    return median(syncs);
  } finally {
    daemon.kill('SIGTERM');
    await ended;
  }
}

function latenessRow(what: string, { runs, p50, p99, most, startSeconds, residentMb: mb }: Lateness): Row[] {
  return [
    [
      what,
      `half within ${durationText(p50)}, 99 of 100 within ${durationText(p99)}, at most ${durationText(most)} (${countText(runs)} runs)`,
    ],
    ['  the daemon takes to start, and holds then', `${seconds(startSeconds)}, ${megabytes(mb)}`],
  ];
}

const late: Part = async ({ folder, sluice }) => {
  const jobs = Number(options.jobs);
  const given = { sluice, jobs, folder: join(folder, 'spread'), minutes: Number(options.minutes) };
  const spread = await measureLateness({ ...given, minuteOf: (job) => job % 60 });
  const one = { sluice, jobs: Math.ceil(jobs / 10), folder: join(folder, 'minute'), minutes: 1 };
  const minute = await measureLateness({ ...one, minuteOf: (_, first) => first });
  return [
    ...latenessRow(`${countText(jobs)} hourly jobs over the minutes of the hour, nothing new to send`, spread),
    ...latenessRow(`${countText(one.jobs)} jobs on one minute, nothing new to send`, minute),
  ];
};

interface Held {
  readonly heldMb: number;
  readonly residentMb: number;
}

const memory: Part = async ({ folder, sluice }) => {
  const fixtures = await writeFixtures(folder, referenceJobs);
  const service = await serve(folder, ['--memory', '--no-limits', '--fixtures', fixtures]);
  try {
    const given = { url: service.url, jobs: referenceJobs, scheduleOf: referenceSchedule, always: true };
    const file = await writeJobs(folder, given);
    const idle = await idleMb(sluice, file);
    const child = join(import.meta.dirname, 'daemon-child.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [child, file, '24']);
    const { first, last, runs } = JSON.parse(stdout) as { first: Held; last: Held; runs: number };
    const text = ({ heldMb, residentMb: mb }: Held): string =>
      `${heldMb.toFixed(1)} MB held, ${megabytes(mb)} resident`;
    return [
      [`\`run\` with ${referenceJobs} jobs, idle`, `${megabytes(idle)} resident`],
      ['  the same from the sources after one simulated hour', text(first)],
      [`  after 24 simulated hours and ${countText(runs)} runs, each delivered`, text(last)],
    ];
  } finally {
    await service.stop();
  }
};

/** Resident memory of a daemon after it has been idle for 30 seconds. */
async function idleMb(sluice: string, file: string): Promise<number> {
  const daemon = spawn(process.execPath, [sluice, 'run', '--config', file], { stdio: 'ignore' });
  const ended = once(daemon, 'exit');
  try {
    await wait(30_000);
    return await residentMb(daemon.pid!);
  } finally {
    daemon.kill('SIGTERM');
    await ended;
  }
}

const requests: Part = async ({ folder }) => {
  const day = async (given: { always: boolean; changes: number }): Promise<number> => {
    const url = 'https://bench.invalid/api/1.0';
    const file = await writeJobs(folder, { url, jobs: referenceJobs, scheduleOf: referenceSchedule, ...given });
    const { config } = await loadConfig(file);
    const from = Date.UTC(2026, 5, 15, 4);
    const span = { from, until: from + 86_400_000, past: new Map(), signal: new AbortController().signal };
    return (await simulate({ config: config!, changes: given.changes, ...span })).runs.requests;
  };
  const all = await day({ always: true, changes: 0.3 });
  const news = await day({ always: false, changes: 0.3 });
  return [
    [`requests a day of the ${referenceJobs} jobs, all sent (\`always: true\`)`, countText(all)],
    ['  what has not changed is skipped, three runs in ten bring something new', countText(news)],
  ];
};

const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
try {
  const sluice = await installPackage(folder);
  const rows: Row[] = [];
  for (const [name, part] of Object.entries({ start, late, memory, requests })) {
    if (!name.includes(options.only)) continue;
    const own = join(folder, name);
    await mkdir(own, { recursive: true });
    const measured = await part({ folder: own, sluice });
    for (const row of measured) process.stderr.write(`${row.join(': ')}\n`);
    rows.push(...measured);
  }
  const machine = `Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}`;
  process.stdout.write(
    `\n${machine}\n\n${renderTable([{ title: 'what' }, { title: 'measured' }], rows, { widest: 120 })}\n`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
