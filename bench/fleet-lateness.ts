import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { type LatenessSpread, spreadOf } from './daemon-lateness.ts';
import { readWork, type ServerWork } from './server-work.ts';

/** Delays between firings' due times and the starts of their last runs, and what the runs cost the database. */
export interface FleetLateness extends LatenessSpread {
  /** Firings that were run more than once, because their process was killed. */
  readonly again: number;
  readonly perSecond: number;
  readonly work: ServerWork;
  readonly kills: number;
}

interface FleetLatenessGiven {
  /** The program that runs `sluice`, with its arguments. */
  readonly sluice: readonly string[];
  /** A config whose jobs fire once a minute. */
  readonly file: string;
  readonly jobs: number;
  readonly processes: number;
  readonly minutes: number;
  /** How often to kill a process and start another one, at equal intervals. */
  readonly kills: number;
  /** A connection to the database, and the schema with the state. */
  readonly client: pg.Client;
  readonly schema: string;
  readonly env: NodeJS.ProcessEnv;
}

const minuteMs = 60_000;
/** How long to wait until all jobs have run once, and until the last runs have ended. */
const patienceMs = 10 * minuteMs;

/**
 * Runs several daemons on the real clock. Measures from the moment when each job has delivered its data once, so that
 * all measured runs find nothing new to send.
 */
export async function measureFleetLateness(given: FleetLatenessGiven): Promise<FleetLateness> {
  const { processes, minutes, jobs, kills } = given;
  const fleet = new Fleet(given);
  try {
    for (let one = 0; one < processes; one++) fleet.start();
    await until('each job to deliver', async () => (await countOf(given, `count(distinct job)`, 'delivered')) === jobs);
    const [from, before] = [await now(given), await readWork(given.client)];
    for (let kill = 0; kill <= kills; kill++) {
      if (kill > 0) fleet.killOne(kill);
      await wait((minutes * minuteMs) / (kills + 1));
    }
    const [to, after] = [await now(given), await readWork(given.client)];
    await until('the last runs to end', async () => (await countOf(given, 'count(*)', 'running')) === 0);
    const firings = await firingsOf(given, { from, to });
    const perMinute = firings.length / minutes / jobs;
    if (perMinute < 0.95 || perMinute > 1.05) throw new Error(`${firings.length} firings in ${minutes} minutes`);
    const [runs, seconds] = [firings.reduce((sum, one) => sum + one.runs, 0), (to - from) / 1000];
    return {
      ...spreadOf(firings.map(({ late }) => late)),
      again: firings.filter((one) => one.runs > 1).length,
      perSecond: firings.length / seconds,
      kills,
      work: {
        statements: (after.statements - before.statements) / runs,
        cpuSeconds: (after.cpuSeconds - before.cpuSeconds) / runs,
        walBytes: (after.walBytes - before.walBytes) / runs,
        connections: after.connections,
      },
    };
  } finally {
    await fleet.stop();
  }
}

/** The daemons that run. */
class Fleet {
  readonly #given: FleetLatenessGiven;
  readonly #running: ChildProcess[] = [];

  constructor(given: FleetLatenessGiven) {
    this.#given = given;
  }

  start(): void {
    const { sluice, file, env } = this.#given;
    const [program = '', ...args] = [...sluice, 'run', '--second', 'wait', '--config', file, '--log', 'warn'];
    this.#running.push(spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] }));
  }

  /** Kills a process and starts another one at once, as a service manager would. */
  killOne(nth: number): void {
    const [killed] = this.#running.splice(nth % this.#running.length, 1);
    killed?.kill('SIGKILL');
    this.start();
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#running.map(async (one) => {
        if (one.exitCode !== null || one.signalCode !== null) return;
        one.kill('SIGTERM');
        await once(one, 'exit');
      }),
    );
  }
}

interface FiringRow {
  readonly late: number;
  readonly runs: number;
}

async function firingsOf({ client, schema }: FleetLatenessGiven, { from, to }: { from: number; to: number }) {
  const { rows } = await client.query<FiringRow>(
    `select (max(started_at) - fired_at)::float8 as late, count(*)::int as runs from ${schema}.runs
     where origin = 'schedule' and fired_at >= $1 and fired_at < $2 group by job, fired_at`,
    [Math.ceil(from), Math.floor(to)],
  );
  return rows;
}

async function countOf({ client, schema }: FleetLatenessGiven, what: string, state: string): Promise<number> {
  const query = `select (${what})::int as count from ${schema}.runs where state = $1`;
  const { rows } = await client.query<{ count: number }>(query, [state]).catch(() => ({ rows: [] }));
  return rows[0]?.count ?? 0;
}

async function now({ client }: FleetLatenessGiven): Promise<number> {
  const { rows } = await client.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
  );
  return rows[0]!.now;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + patienceMs; !(await holds()); await wait(500)) {
    if (Date.now() > end) throw new Error(`timeout: waited for ${what}`);
  }
}
