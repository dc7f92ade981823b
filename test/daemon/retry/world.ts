import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { simulatedNetwork } from '../../../src/cli/simulate/network.ts';
import { virtualTick } from '../../../src/cli/simulate/virtual-tick.ts';
import type { Config, Job, RetryRule } from '../../../src/config/config.ts';
import { composeRuntime, type Runtime } from '../../../src/daemon/compose.ts';
import { Daemon } from '../../../src/daemon/daemon.ts';
import { Problem, type ProblemOptions } from '../../../src/lib/problem.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { createTimer } from '../../../src/schedule/timer.ts';
import { startService } from '../../../src/service/service.ts';
import { configOf, destinationOf, type Event, type JobGiven, jobOf, Source } from '../rig.ts';

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;

export const noon = Date.parse('2026-11-23T12:00:00Z');

/** The default settings of the test. */
export const usual: RetryRule = { firstMs: 30 * second, longestMs: 10 * minute, withinMs: 6 * hour };

export const key = 'ad'.repeat(20);

/** The ID of the n-th instance of the service; at most {@link instances}. */
export const instanceOf = (n: number): string => (n + 1).toString(16).padStart(32, '0');
const instances = 128;

/** A source that is unavailable at times set by its clock. */
export class Away {
  readonly source = new Source();
  readonly name: string;
  /** Times of all attempts to read it. */
  readonly asked: number[] = [];
  /** The duration of an attempt, successful or not. */
  takesMs = second;
  /** The source's current error; undefined if it's available. */
  fault: (now: number) => Partial<ProblemOptions> | undefined = () => undefined;

  constructor(clock: VirtualClock, name = 'made') {
    this.name = name;
    this.source.says = async (signal) => {
      this.asked.push(clock.now());
      await clock.sleep(this.takesMs, signal);
      const fault = this.fault(clock.now());
      if (fault !== undefined) throw new Problem({ ...gone, ...fault });
      return `rows of ${clock.now()}`;
    };
  }

  /** Makes the source unavailable from one time to another. */
  between(from: number, until: number, fault: Partial<ProblemOptions> = {}): void {
    this.fault = (now) => (now >= from && now < until ? fault : undefined);
  }
}

const gone = { code: 'DB_UNREACHABLE', family: 'try_later', message: 'connection refused (db:5432)' } as const;

export interface Life {
  readonly runtime: Runtime;
  readonly daemon: Daemon;
  readonly heard: readonly Event[];
  named(name: Event['name']): Event[];
  stop(): Promise<void>;
}

/** The daemon, its state and the service on one virtual clock: days pass in seconds, in the same way each time. */
export async function openWorld(start = noon) {
  const clock = new VirtualClock(start);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-retry-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const fixtures = join(folder, 'fixtures.json');
  const user = { email: 'a@test.example', first_name: 'A', last_name: 'B', role: 'Admin', api_keys: [key] };
  const datasources = Array.from({ length: instances }, (_, n) => ({
    id: instanceOf(n),
    name: `Data ${n}`,
    format: 'csv',
  }));
  await writeFile(
    fixtures,
    JSON.stringify({ companies: [{ name: 'Acme', plan: 'enterprise', users: [user], datasources }] }),
  );
  const service = await startService({ data: 'memory', fixtures, limits: false, clock, tickMs: hour });
  onTestFinished(() => service.close());
  const destination = destinationOf(service.url);
  const away = new Away(clock);

  const job = (more: Partial<JobGiven> & { away?: Away; n?: number } = {}): Job => {
    const { away: read = away, n = 0, ...rest } = more;
    const made = jobOf({
      name: 'orders',
      destination,
      source: read.source,
      retry: usual,
      instance: instanceOf(n),
      ...rest,
    });
    const source = { ...made.extract!.source, name: read.name };
    return { ...made, extract: { ...made.extract!, source } };
  };

  const live = async (config: Config, { durable = false } = {}): Promise<Life> => {
    const network = simulatedNetwork({ clock, seed: 0 });
    const runtime = await composeRuntime({ config, clock, network, durable });
    const heard: Event[] = [];
    runtime.events.listen((name, facts) => heard.push({ name, facts: { ...facts, clock: clock.now() } }));
    const daemon = new Daemon({ runtime, config, timer: createTimer(clock, virtualTick(clock)) });
    let stopping: Promise<void> | undefined;
    const stop = (): Promise<void> => {
      stopping ??= clock.drive(daemon.stop('the test is over')).finally(() => runtime.close());
      return stopping;
    };
    onTestFinished(stop);
    await clock.drive(daemon.start());
    return { runtime, daemon, heard, stop, named: (name) => heard.filter((event) => event.name === name) };
  };

  /** Lets this much time pass. */
  const pass = (ms: number): Promise<void> => clock.drive(clock.sleep(ms));

  return { clock, folder, destination, away, job, live, pass, configWith: (...jobs: Job[]) => configOf(folder, jobs) };
}
