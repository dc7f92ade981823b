import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { scheduleKey } from '../../src/schedule/schedule.ts';
import { openStore } from '../../src/state/store.ts';
import type { Home, State } from '../journey/home.ts';
import { forTest, type Scope, type Start } from '../journey/process.ts';
import { adminKey, type Running, until } from '../journey/world.ts';
import type { TestServer } from '../servers/server.ts';
import { FleetOracle } from './fleet-oracle.ts';
import { readSteps, type Theatre } from './stage.ts';
import { Upstream } from './upstream.ts';

type Address = Pick<TestServer, 'host' | 'port' | 'user' | 'password' | 'database'>;

interface FleetGiven {
  /** The database's server. */
  readonly server: Address;
  /** What the processes connect to instead, such as a PgBouncer. */
  readonly front?: { readonly host?: string; readonly port: number };
  /** Converts a URL of this machine to one that the processes can reach. */
  readonly via?: (url: string) => Promise<string>;
  readonly jobs?: number;
  readonly scope?: Scope;
  readonly top?: object;
}

/** The longest time to wait for a fleet: a dead sender's slots may rest for 46 s, and a busy machine sends slowly. */
const patience = { withinMs: 600_000 };
const yearMs = 365 * 86_400_000;
let stages = 0;

/** Jobs whose firings the test makes due, in processes that share a state in a database. */
export class FleetStage {
  readonly home: Home;
  readonly upstream: Upstream;
  readonly oracle: FleetOracle;
  readonly schema: string;
  readonly #given: FleetGiven;
  readonly #pool: pg.Pool;
  readonly #started: Running[] = [];
  #firedAt = 0;

  private constructor(given: FleetGiven & Pick<FleetStage, 'home' | 'upstream' | 'schema'>, theatre: Theatre) {
    this.#given = given;
    this.home = given.home;
    this.upstream = given.upstream;
    this.schema = given.schema;
    const { host, port, user, password, database } = given.server;
    this.#pool = new pg.Pool({ host, port, user, password, database, max: 1, allowExitOnIdle: true });
    this.#pool.on('error', () => undefined);
    this.oracle = new FleetOracle({ ...theatre, stage: this, upstream: given.upstream });
  }

  static async open(theatre: Theatre, given: FleetGiven): Promise<FleetStage> {
    const { server, front, via = async (url: string) => url, jobs = 3, scope = forTest, top } = given;
    const [home, upstream] = [await theatre.world.home(scope), await Upstream.open(scope)];
    const schema = `fleet_${process.pid}_${++stages}`;
    const stage = new FleetStage({ ...given, home, upstream, schema }, theatre);
    scope(() => stage.#pool.end());
    const { host, port, user, password, database } = { ...server, ...front };
    const targets: Record<string, string> = {};
    for (let nth = 0; nth < jobs; nth++) targets[`job${nth}`] = await theatre.world.instance('csv');
    const job = { source: 'api', query: '/rows.csv', format: 'csv', schedule: '0 0 1 1 *' };
    const file = await home.config({
      state: `postgres://${user}:${password}@${host}:${port}/${database}?schema=${schema}&sslmode=disable`,
      timezone: 'UTC',
      destinations: { main: { url: await via(theatre.world.url), api_key: adminKey, requests_per_day: allowance } },
      sources: { api: { connector: 'simple_rest', url: await via(upstream.url) } },
      jobs: Object.fromEntries(Object.entries(targets).map(([name, target]) => [name, { ...job, target }])),
      ...top,
    });
    process.env.SLUICE_KEY ??= env.SLUICE_KEY;
    const { config, problems } = await loadConfig(file);
    if (config?.stateDatabase === undefined) throw problems[0] ?? new Error('no state');
    const store = await openStore(config.state, { clock: systemClock, database: config.stateDatabase });
    for (const { name, schedule } of config.jobs.values())
      await store.schedules.set({ job: name, schedule: scheduleKey(schedule!), next_at: Date.now() + yearMs });
    await store.close();
    stage.oracle.watch(targets);
    return stage;
  }

  /** Starts `sluice run`. With a step, the process dies there; if the step is empty, it only lists its steps. */
  start({ args = [], step, by, how = {} }: Life = {}): Running {
    const { preload = [] } = how;
    const { port } = this.#given.front ?? this.#given.server;
    const die = { STEPS_PORT: String(port), STEPS_FILE: this.#stepsFile, DIE_AT: step, DIE_BY: by ?? 'SIGKILL' };
    const special = step === undefined ? how : { ...how, preload: ['die-at-step', ...preload] };
    const all = { serves: true, ...special, env: { ...env, ...(step !== undefined && die), ...how.env } };
    const running = this.home.start(['run', ...args], all);
    this.#started.push(running);
    return running;
  }

  /** The durable steps so far of the processes that were started with a step. */
  async steps(): Promise<string[]> {
    return readSteps(this.#stepsFile);
  }

  /**
   * Makes a firing of each job due, unless the job has one that isn't settled. The next process that plans sees them,
   * so none may plan now.
   */
  async fire(): Promise<void> {
    this.#firedAt = Math.max(this.#firedAt + 1, Date.now() - 60_000);
    const open = ['fleet_runs', 'deferred_firings', 'retries'].map(
      (table) => `and not exists (select from @${table} o where o.job = s.job)`,
    );
    const fired = await this.query<{ job: string }>(
      `update @schedules s set next_at = ${this.#firedAt} where next_at > ${Date.now()} ${open.join(' ')} returning job`,
    );
    for (const { job } of fired) this.oracle.fired(job, this.#firedAt);
  }

  /** Whether nothing is due, queued, running or owed. */
  async isSettled(): Promise<boolean> {
    const open = [
      'select from @fleet_runs',
      `select from @schedules where next_at <= ${Date.now()}`,
      'select from @deferred_firings',
      "select from @runs where state in ('running', 'owed', 'retrying')",
      "select from @outbox where state = 'owed'",
    ].map((query) => `exists (${query})`);
    const [row] = await this.query<{ is_open: boolean }>(`select ${open.join(' or ')} as is_open`);
    return row?.is_open === false;
  }

  /** Waits until everything is settled, or until a process has died. */
  async untilSettled(mortal?: Running): Promise<void> {
    const isOver = async () => {
      if (mortal !== undefined && isDead(mortal)) return true;
      await wait(80);
      return this.isSettled();
    };
    await until('the fleet to settle', isOver, { ...patience, seen: () => this.#story() });
  }

  /**
   * Makes a firing of each job due, stops a process at a step, disturbs its state's server meanwhile, and lets it go on
   * until everything is settled. If the process doesn't reach the step, disturbs the server afterwards.
   */
  async disturbAt(step: string, disturb: () => Promise<void>, how: Start = {}): Promise<void> {
    await this.fire();
    const one = this.start({ step, by: 'SIGSTOP', how });
    this.oracle.died(one);
    await until('the process to be at the step', async () => isStopped(one) || (await this.isSettled()), patience);
    this.oracle.lostState();
    await disturb();
    one.child.kill('SIGCONT');
    await this.untilSettled();
    await this.oracle.look();
    one.child.kill('SIGKILL');
    await one.ended;
  }

  /** Lets a new process settle everything, and checks the result. */
  async rest(): Promise<void> {
    const last = this.start();
    await this.untilSettled();
    await this.end(last);
    await this.oracle.rest();
  }

  /** Runs a statement, again if the server is restarting. `@` is the schema. */
  async query<T extends object>(text: string): Promise<T[]> {
    for (let tries = 0; ; tries++) {
      try {
        return (await this.#pool.query(text.replaceAll('@', `${this.schema}.`))).rows as T[];
      } catch (error) {
        if (tries === 100 || !/terminat|ECONN|starting|shutting/.test(String(error))) throw error;
        await wait(100);
      }
    }
  }

  /** What the store contains, of one job or of all. */
  async state(job?: string): Promise<State> {
    const of = job === undefined ? '' : `where job = '${job}'`;
    return {
      runs: await this.query(`select * from @runs ${of} order by sequence`),
      outbox: await this.query(`select * from @outbox ${of} order by id`),
      watermarks: await this.query(`select * from @watermarks ${of}`),
      leases: await this.query('select * from @leases'),
      quota: await this.query('select day, used::int, spent_until from @quota'),
    };
  }

  /** Ends a process as an operator would, once it has started. */
  async end({ child, ended, output }: Running): Promise<void> {
    await until('the process to start', () => output().includes('daemon.started'), { seen: output });
    child.kill('SIGTERM');
    const { code, signal, stderr } = await ended;
    if (code !== 0) throw new Error(`ended with ${code ?? signal}: ${stderr}`);
  }

  get #stepsFile(): string {
    return join(this.home.folder, 'steps');
  }

  async #story(): Promise<string> {
    const tables = ['fleet_runs', 'runs', 'outbox', 'schedules', 'deferred_firings', 'leases', 'send_slots'];
    const rows = await Promise.all(tables.map(async (one) => [one, await this.query(`select * from @${one}`)]));
    const told = this.#started.map(({ child, output }) => `${child.pid}: ${output()}`);
    return [JSON.stringify(Object.fromEntries(rows), undefined, 1), ...told].join('\n');
  }
}

interface Life {
  readonly args?: readonly string[];
  readonly step?: string | undefined;
  /** The signal with which the process dies. */
  readonly by?: NodeJS.Signals;
  readonly how?: Start;
}

export const allowance = 10_000;

/** The environment that each process needs. */
export const env = { SLUICE_KEY: 'key-for-logins-'.repeat(3) };

export function isDead({ child }: Running): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Whether a process is stopped. The state comes after the program's name, which is in brackets: proc_pid_stat(5). */
export function isStopped({ child }: Running): boolean {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}
