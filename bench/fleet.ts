import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { renderTable } from '../src/cli/output/table.ts';
import { startPostgres } from '../test/servers/postgres.ts';
import type { FleetFigures } from './fleet-child.ts';
import { lateRows } from './fleet-late.ts';
import { takeoverRows } from './fleet-takeover.ts';
import { type Service, startService, startSlowLink, writeFleet } from './fleet-world.ts';
import { installPackage } from './install-package.ts';
import { workSettings } from './server-work.ts';

/**
 * `npm run bench:fleet -- [--processes 4] [--accounts 20] [--jobs 200] [--seconds 20] [--minutes 2] [--latency 1]
 * [--state postgres] [--times 10] [--only runs|send|late|takeover]`: measures several processes that share one state:
 * how many runs and requests they make, how many statements that takes, how late jobs start that fire once a minute,
 * with and without processes being killed, and how long work stands still after a process was killed (`--times`). `--latency` is added to each round trip to the database, in milliseconds. `--state folder`
 * measures a state in a folder instead.
 */
const { values: options } = parseArgs({
  options: {
    processes: { type: 'string', default: '4' },
    accounts: { type: 'string', default: '20' },
    jobs: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
    latency: { type: 'string', default: '0' },
    state: { type: 'string', default: 'postgres' },
    minutes: { type: 'string', default: '2' },
    times: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
  },
});
const [processes, accounts, jobs, seconds, latencyMs] = [
  options.processes,
  options.accounts,
  options.jobs,
  options.seconds,
  options.latency,
].map(Number) as [number, number, number, number, number];

type Row = readonly [what: string, figure: string];

interface Measured {
  readonly runs: number;
  readonly uploads: number;
  readonly statements: number;
  readonly transactions: number;
  /** Requests per second of each account, sorted. */
  readonly rates: readonly number[];
  /** The most requests to one account within any second. */
  readonly most: number;
}

/** Starts the processes, waits until each has run all of its jobs once, and measures for some seconds. */
async function measureFleet(file: string, service: Service): Promise<Measured> {
  const child = join(import.meta.dirname, 'fleet-child.ts');
  const key = randomBytes(32).toString('base64');
  const children = Array.from({ length: processes }, (_, share) =>
    spawn(process.execPath, [child, file, String(share), String(processes)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, SLUICE_KEY: key },
    }),
  );
  try {
    const lines = children.map(({ stdout }) => createInterface(stdout)[Symbol.asyncIterator]());
    for (const line of lines) if ((await line.next()).value !== 'ready') throw new Error('a process did not start');
    for (const { stdin } of children) stdin.write('\n');
    const from = performance.now();
    await wait(seconds * 1000);
    const until = performance.now();
    for (const { stdin } of children) stdin.end();
    const figures = await Promise.all(
      lines.map(async (line) => JSON.parse(String((await line.next()).value)) as FleetFigures),
    );
    await Promise.all(children.map(({ exitCode }, nth) => exitCode ?? once(children[nth]!, 'exit')));
    const sum = (of: keyof FleetFigures): number => figures.reduce((total, one) => total + one[of], 0);
    const within = [...service.arrivals.values()].map((all) => all.filter((at) => at >= from && at < until).length);
    return {
      runs: sum('runs'),
      uploads: sum('uploads'),
      statements: sum('statements'),
      transactions: sum('transactions'),
      rates: within.map((count) => count / seconds).sort((a, b) => a - b),
      most: Math.max(0, ...[...service.arrivals.values()].map(maxInASecond)),
    };
  } finally {
    for (const one of children) if (one.exitCode === null) one.kill('SIGKILL');
  }
}

function maxInASecond(arrivals: readonly number[]): number {
  let most = 0;
  for (let first = 0, last = 0; last < arrivals.length; last++) {
    while (arrivals[last]! - arrivals[first]! >= 1000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** Runs without anything new to send. */
function runRows({ runs, statements, transactions }: Measured): Row[] {
  return [
    ['runs with nothing new to send', `${(runs / seconds).toFixed(1)} a second`],
    ['  statements and transactions of one', `${each(statements, runs)} and ${each(transactions, runs)}`],
  ];
}

/** Runs whose payloads are all sent. */
function sendRows({ uploads, statements, transactions, rates, most }: Measured): Row[] {
  const [low, middle] = [rates[0] ?? 0, rates[Math.floor(rates.length / 2)] ?? 0];
  return [
    ['runs with an upload', `${(uploads / seconds).toFixed(1)} a second`],
    ['  statements and transactions of one', `${each(statements, uploads)} and ${each(transactions, uploads)}`],
    ['  requests of an account', `${middle.toFixed(2)} a second, of the slowest account ${low.toFixed(2)}`],
    ['  at most, within any second', String(most)],
  ];
}

const each = (all: number, of: number): string => (of === 0 ? 'none' : (all / of).toFixed(1));

/** Starts the database that the state is in, if it isn't in a folder. */
async function startState(): Promise<{ state: (name: string) => string; stop(): Promise<void> }> {
  if (options.state === 'folder') return { state: () => './state', stop: async () => undefined };
  const server = await startPostgres({ settings: { ...workSettings, fsync: 'on', max_connections: '200' } });
  const link = latencyMs === 0 ? undefined : await startSlowLink(server.port, latencyMs);
  const { user, password, host, port, database } = { ...server, ...link };
  const url = `postgres://${user}:${password}@${host}:${port}/${database}?sslmode=disable`;
  const stop = async (): Promise<void> => {
    link?.stop();
    await server.stop();
  };
  return { state: (name) => `${url}&schema=${name}`, stop };
}

const parts = { runs: { always: false, rowsOf: runRows }, send: { always: true, rowsOf: sendRows } };
const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
const { state, stop } = await startState();
try {
  const rows: Row[] = [];
  for (const [name, { always, rowsOf }] of Object.entries(parts)) {
    if (!name.includes(options.only)) continue;
    const service = await startService();
    const given = { url: service.url, state: state(name), accounts, jobs, always };
    const file = await writeFleet(join(folder, name), given);
    const measured = rowsOf(await measureFleet(file, service).finally(service.stop));
    for (const row of measured) process.stderr.write(`${row.join(': ')}\n`);
    rows.push(...measured);
  }
  const isAsked = (name: string): boolean => name.includes(options.only) && options.state !== 'folder';
  if (isAsked('late') || isAsked('takeover')) {
    const sluice = await installPackage(folder);
    const minutes = Number(options.minutes);
    const measured = [
      ...(isAsked('late') ? await lateRows({ sluice, folder, state, processes, accounts, jobs, minutes }) : []),
      ...(isAsked('takeover') ? await takeoverRows({ sluice, folder, state, times: Number(options.times) }) : []),
    ];
    for (const row of measured) process.stderr.write(`${row.join(': ')}\n`);
    rows.push(...measured);
  }
  const machine = `Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}`;
  const shape = `${processes} processes, ${accounts} accounts, ${jobs} jobs, state: ${options.state}, latency ${latencyMs} ms`;
  process.stdout.write(
    `\n${machine}; ${shape}\n\n${renderTable([{ title: 'what' }, { title: 'measured' }], rows, { widest: 120 })}\n`,
  );
} finally {
  await stop();
  await rm(folder, { recursive: true, force: true });
}
