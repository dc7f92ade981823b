import pg from 'pg';
import type { Job } from '../src/config/config.ts';
import { loadConfig } from '../src/config/load.ts';
import { composeRuntime } from '../src/daemon/compose.ts';
import { runJob } from '../src/daemon/run/run-job.ts';
import { Deliverer } from '../src/delivery/deliverer.ts';

/**
 * One process of a fleet. It runs its share of the config's jobs and sends what is owed, until its standard input ends.
 * A job runs again as soon as nothing is owed for it. After the first pass, the process prints a line; at the end, it
 * prints its {@link FleetFigures} since the last input.
 */
export interface FleetFigures {
  readonly runs: number;
  readonly uploads: number;
  /** Requests to the database, each of which waits for a response. */
  readonly statements: number;
  readonly transactions: number;
}

const [file = '', share = '0', processes = '1'] = process.argv.slice(2);
/** The number of jobs that run at the same time in this process. */
const concurrency = 8;
/** Interval at which to look for jobs whose payload was sent. */
const lookMs = 200;

const figures = { runs: 0, uploads: 0, statements: 0, transactions: 0 };

const query = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => unknown;
pg.Client.prototype.query = function count(this: pg.Client, ...given: unknown[]) {
  figures.statements += 1;
  if (String(given[0]).startsWith('begin')) figures.transactions += 1;
  return query.apply(this, given);
} as typeof pg.Client.prototype.query;

const { config, problems } = await loadConfig(file);
if (config === undefined || problems.length > 0) throw problems[0] ?? new Error('no config');
const loaded = config;
const runtime = await composeRuntime({ config });
const deliverer = new Deliverer(runtime.gateway);
const stop = new AbortController();
runtime.events.listen((...[name, facts]) => {
  if (name === 'payload.delivered') figures.uploads += 1;
  if (name === 'run.finished') figures.runs += 1;
  if (name === 'run.finished' && facts.outcome === 'failed') process.stderr.write(`${JSON.stringify(facts)}\n`);
});
process.stdin.on('data', () => Object.assign(figures, { runs: 0, uploads: 0, statements: 0, transactions: 0 }));
process.stdin.on('end', () => stop.abort());

const jobs = [...loaded.jobs.values()].filter((_, job) => job % Number(processes) === Number(share));

/** Runs jobs, at most {@link concurrency} at the same time. */
async function runAll(due: readonly Job[]): Promise<void> {
  const rest = [...due];
  const lane = async (): Promise<void> => {
    for (let job = rest.pop(); job !== undefined && !stop.signal.aborted; job = rest.pop()) {
      const { state } = await runJob({ runtime, config: loaded, job, origin: 'schedule', signal: stop.signal });
      if (state === 'owed') deliverer.nudge();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
}

deliverer.start();
for (let isFirst = true; !stop.signal.aborted; isFirst = false) {
  const owed = new Set((await runtime.store.outbox.inState('owed')).map(({ job }) => job));
  const due = jobs.filter(({ name }) => !owed.has(name));
  await runAll(due);
  if (due.length === 0) await runtime.clock.sleep(lookMs, stop.signal).catch(() => undefined);
  if (isFirst) process.stdout.write('ready\n');
}
const result: FleetFigures = { ...figures };
process.stdout.write(`${JSON.stringify(result)}\n`);
await deliverer.stop();
await runtime.close();
