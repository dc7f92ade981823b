import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { durationText } from '../src/cli/output/format.ts';
import { instanceOf } from './daemon-world.ts';
import { startService } from './fleet-world.ts';

interface TakeoverGiven {
  /** Path of the built package's `sluice` command. */
  readonly sluice: string;
  readonly folder: string;
  /** Returns the URL of the state in a schema of the server. */
  readonly state: (schema: string) => string;
  readonly times: number;
}

const patienceMs = 120_000;
const schema = 'takeover';

/**
 * Measures how long work stands still after a SIGKILL: until the run of a dead process begins again, and until another
 * process plans. Each of the two processes has its own folder, and so its own cache. A process on another machine is
 * one in its own PID namespace, whose death the others can't see; that needs root.
 */
export async function takeoverRows(given: TakeoverGiven): Promise<[string, string][]> {
  const fleet = await TakeoverFleet.open(given);
  try {
    const rows: [string, string][] = [];
    for (const where of ['on the same machine', 'on another machine'] as const) {
      const under = where === 'on the same machine' ? [] : ['unshare', '--pid', '--fork', '--kill-child'];
      if (under.length > 0 && process.getuid?.() !== 0) continue;
      rows.push([
        `a dead planner ${where}: until another plans`,
        await spread(given.times, () => fleet.losePlanner(under)),
      ]);
      rows.push([
        `a dead runner ${where}: until its run begins`,
        await spread(given.times, () => fleet.loseRunner(under)),
      ]);
    }
    return rows;
  } finally {
    await fleet.close();
  }
}

async function spread(times: number, measure: () => Promise<number>): Promise<string> {
  const all: number[] = [];
  for (let nth = 0; nth < times; nth++) all.push(await measure());
  all.sort((a, b) => a - b);
  const [least, middle, most] = [all[0]!, all[Math.floor(all.length / 2)]!, all.at(-1)!];
  return `${durationText(least)} to ${durationText(most)}, median ${durationText(middle)} (${times} times)`;
}

/** Two jobs, whose source answers only when told to. */
class TakeoverFleet {
  readonly #given: TakeoverGiven;
  readonly #client: pg.Client;
  /** Open requests, by job. */
  readonly #held = new Map<string, ServerResponse>();
  readonly #running = new Set<ChildProcess>();
  readonly #ends: (() => unknown)[] = [];
  readonly #env = { ...process.env, SLUICE_KEY: randomBytes(32).toString('base64') };

  private constructor(given: TakeoverGiven) {
    this.#given = given;
    this.#client = new pg.Client(given.state(schema).replace(/[?].*/, ''));
  }

  static async open(given: TakeoverGiven): Promise<TakeoverFleet> {
    const fleet = new TakeoverFleet(given);
    await fleet.#client.connect();
    const service = await startService();
    const source = createServer(({ url = '' }, response) => fleet.#held.set(url.slice(1), response));
    source.listen(0, '127.0.0.1');
    await once(source, 'listening');
    fleet.#ends.push(
      service.stop,
      () => source.close().closeAllConnections(),
      () => fleet.#client.end(),
    );
    const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}`;
    const jobOf = (nth: number) => ({
      ...{ source: 'api', query: { path: `/job${nth}` }, format: 'json', schedule: '0 0 1 1 *' },
      ...{ destination: 'main', target: instanceOf(nth), always: true },
    });
    const config = {
      ...{ version: 1, state: given.state(schema), cache: './cache', concurrency: 1 },
      destinations: { main: { url: service.url, api_key: 'account' } },
      sources: { api: { connector: 'simple_rest', url, timeout_seconds: 600 } },
      jobs: { job0: jobOf(0), job1: jobOf(1) },
    };
    await mkdir(join(given.folder, 'one'), { recursive: true });
    await writeFile(join(given.folder, 'one/sluice.yaml'), JSON.stringify(config));
    await cp(join(given.folder, 'one'), join(given.folder, 'two'), { recursive: true });
    const first = fleet.#start('one');
    await first.plans;
    await fleet.#end(first.child);
    return fleet;
  }

  async losePlanner(under: readonly string[]): Promise<number> {
    const planner = this.#start('one', under);
    await planner.plans;
    const next = this.#start('two');
    await next.starts;
    // Until it has looked at the planner's lease.
    await wait(1_000);
    const from = await kill(planner.child);
    await next.plans;
    const tookMs = performance.now() - from;
    await this.#end(next.child);
    return tookMs;
  }

  /** The planner has a run, too. It ends first, so that the planner has a free slot. */
  async loseRunner(under: readonly string[]): Promise<number> {
    await this.#client.query(`update ${schema}.schedules set next_at = $1`, [Date.now() - 60_000]);
    const planner = this.#start('one');
    await until('the planner to run a job', () => this.#held.size === 1);
    const [own] = this.#held.keys();
    const runner = this.#start('two', [...under]);
    await until('the other process to run a job', () => this.#held.size === 2);
    this.#answer(own!);
    await until('the planner to have a free slot', async () => (await this.#count('fleet_runs')) === 1);
    const [lost] = this.#held.keys();
    this.#held.clear();
    const from = await kill(runner.child);
    await until('the run to begin again', () => this.#held.has(lost!));
    const tookMs = performance.now() - from;
    this.#answer(lost!);
    await until('the run to end', async () => (await this.#count('fleet_runs')) === 0);
    await this.#end(planner.child);
    return tookMs;
  }

  async close(): Promise<void> {
    for (const child of this.#running) await kill(child);
    for (const end of this.#ends) await end();
  }

  #answer(job: string): void {
    this.#held.get(job)?.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1}]');
    this.#held.delete(job);
  }

  #start(name: string, under: readonly string[] = []) {
    const { sluice, folder } = this.#given;
    const file = join(folder, name, 'sluice.yaml');
    const [program, ...args] = [...under, process.execPath, sluice, 'run', '--config', file];
    const child = spawn(program!, args, { env: this.#env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    const [starts, plans] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      said += piece;
      if (said.includes('daemon.started')) starts.resolve();
      if (said.includes('fleet.planning')) plans.resolve();
    });
    return { child, starts: starts.promise, plans: plans.promise };
  }

  async #end(child: ChildProcess): Promise<void> {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  async #count(table: string): Promise<number> {
    const { rows } = await this.#client.query<{ n: number }>(`select count(*)::int as n from ${schema}.${table}`);
    return rows[0]!.n;
  }
}

/** Kills a process. Returns when, on the monotonic clock. */
async function kill(child: ChildProcess): Promise<number> {
  const at = performance.now();
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return at;
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + patienceMs; !(await holds()); await wait(10)) {
    if (performance.now() > end) throw new Error(`timeout: waited for ${what}`);
  }
}
