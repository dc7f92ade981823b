import { constants } from 'node:fs';
import { access, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { composeRuntime, type Runtime } from '../../daemon/compose.ts';
import { Daemon } from '../../daemon/daemon.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import { VirtualClock } from '../../lib/virtual-clock.ts';
import { createTimer } from '../../schedule/timer.ts';
import { type RunningService, startService } from '../../service/service.ts';
import type { PastRuns } from '../../state/runs/past-runs.ts';
import { injectFaults, type Outage, sourceFailureRate, sourceOutage } from './faults.ts';
import { simulatedNetwork } from './network.ts';
import { Recorder } from './recorder.ts';
import { reportSimulation, type SimulationReport } from './report.ts';
import { buildScenario, type Scenario } from './scenario.ts';
import { virtualTick } from './virtual-tick.ts';

export interface SimulationOptions {
  readonly config: Config;
  /** Start (inclusive) and end (exclusive) of the simulated period, in epoch milliseconds. */
  readonly from: number;
  readonly until: number;
  /** Seed for the injected faults. If absent, no faults are injected. */
  readonly faults?: number;
  /** The fraction of runs whose data has changed. Default: the fraction among past runs or, if there are none, 1. */
  readonly changes?: number;
  /** Statistics of past runs, by job. */
  readonly past: ReadonlyMap<string, PastRuns>;
  readonly signal: AbortSignal;
  /** Folder for the temporary state. Default: shared memory or the system's temp folder. */
  readonly scratch?: string;
  /** Called after each simulated hour. */
  readonly onHour?: (now: number) => void;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Grace period at the end for runs that are still in progress. */
const graceMs = 15 * minuteMs;
/** Assumed payload size for jobs without history. */
const defaultBytes = 10_000;
const noSeed = 0;
const memory = '/dev/shm';
const minFreeBytes = 1_000_000_000;

/**
 * Discrete-event simulation: runs the real daemon with the config's jobs, on a virtual clock that advances whenever no
 * work is pending, and with an embedded service that has the config's limits. Doesn't read the sources; rows, sizes and
 * durations are modeled on past runs. Never touches the config's state or destinations. Deletes everything that the
 * simulation wrote before the promise settles. Rejects with the signal's reason if aborted.
 */
export async function simulate(given: SimulationOptions): Promise<SimulationReport> {
  const folder = await makeTempFolder('simulate', given.scratch ?? (await scratchRoot()));
  try {
    return await simulateIn(folder, given);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Returns shared memory if it's writable and large enough, because payloads are short-lived files; otherwise, returns
 * the temp folder.
 */
async function scratchRoot(): Promise<string> {
  try {
    await access(memory, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(memory);
    return bavail * bsize > minFreeBytes ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

async function simulateIn(folder: string, given: SimulationOptions): Promise<SimulationReport> {
  const { config, from, faults, changes, past } = given;
  // The clock starts one millisecond early so that a firing at the first instant of the period is counted.
  const clock = new VirtualClock(from - 1);
  const failures = faults === undefined ? 0 : sourceFailureRate;
  const sourceOutageSpan = faults === undefined ? undefined : sourceOutage(faults, given);
  const model = { seed: faults ?? noSeed, changes, failures, past, outage: sourceOutageSpan };
  const scenario = buildScenario(config, { clock, model });
  const fixtures = join(folder, 'fixtures.json');
  await writeFile(fixtures, JSON.stringify(scenario.fixtures));
  // The service also checks its clock on every request, so its timer doesn't need to be frequent.
  const service = await startService({ data: 'memory', fixtures, clock, control: {}, tickMs: hourMs });
  try {
    return await runScenario(given, { clock, scenario, service, folder, sourceOutageSpan });
  } finally {
    await service.close();
  }
}

interface ScenarioContext {
  readonly clock: VirtualClock;
  readonly scenario: Scenario;
  readonly service: RunningService;
  readonly folder: string;
  readonly sourceOutageSpan: Outage | undefined;
}

async function runScenario(
  given: SimulationOptions,
  { clock, scenario, service, folder, sourceOutageSpan }: ScenarioContext,
): Promise<SimulationReport> {
  const { from, until, faults, past, signal } = given;
  const seed = faults ?? noSeed;
  const config = scenario.configFor({ url: service.url, state: join(folder, 'state') });
  const network = simulatedNetwork({ clock, seed });
  const runtime = await composeRuntime({ config, clock, network, durable: false });
  try {
    await rememberTargets(runtime, { scenario, url: service.url });
    const bytesOf = (job: string): number => past.get(job)?.bytes || defaultBytes;
    const recorder = new Recorder({ clock, jobs: config.jobs.keys(), until, bytesOf });
    runtime.events.listen(recorder.listen);
    const timer = recorder.wrap(createTimer(clock, virtualTick(clock)));
    const daemon = new Daemon({ runtime, config, timer });
    const faultOptions = { clock, control: service.control!, seed, spanMs: until - from };
    const outageAt = faults === undefined ? undefined : await injectFaults(faultOptions);
    await clock.drive(daemon.start(), signal);
    try {
      await passTime(given, { clock, recorder });
    } finally {
      await clock.drive(daemon.stop('the simulation has ended'));
    }
    const destinations = [...config.destinations.values()];
    const knownJobs = [...config.jobs.keys()].filter((job) => past.has(job)).length;
    const span = { from, until, seed, knownJobs, outageAt, sourceOutageAt: sourceOutageSpan?.from };
    const accountOf = (job: string): string => config.jobs.get(job)!.destination.account;
    return await reportSimulation({ ...span, destinations, store: runtime.store, recorder, accountOf });
  } finally {
    await runtime.close();
  }
}

async function rememberTargets(
  { store }: Runtime,
  { scenario, url }: { scenario: Scenario; url: string },
): Promise<void> {
  for (const { id, name, format, ...client } of scenario.declared) {
    await store.targets.remember({ url, name, ...client }, { datasource: id, instance: id, format });
  }
}

/** Advances the clock to the end of the period, then waits for unfinished runs, but no longer than the grace period. */
async function passTime(
  { until, signal, onHour }: SimulationOptions,
  { clock, recorder }: { clock: VirtualClock; recorder: Recorder },
): Promise<void> {
  while (clock.now() < until) {
    await clock.drive(clock.sleep(Math.min(hourMs, until - clock.now())), signal);
    onHour?.(clock.now());
  }
  while (!recorder.isIdle && clock.now() < until + graceMs) await clock.drive(clock.sleep(1_000), signal);
}
