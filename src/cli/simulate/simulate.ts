import { constants } from 'node:fs';
import { access, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { Daemon } from '../../daemon/daemon.ts';
import { type Runtime, wire } from '../../daemon/wire.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import { VirtualClock } from '../../lib/virtual-clock.ts';
import { createTimer } from '../../schedule/timer.ts';
import { type RunningService, startService } from '../../service/service.ts';
import type { PastRuns } from '../../state/runs/past-runs.ts';
import { simulatedNetwork } from './network.ts';
import { reportSimulation, type SimulationReport } from './report.ts';
import { type Stage, setStage } from './stage.ts';
import { tickOf } from './tick.ts';
import { Watch } from './watch.ts';
import { badWeather, type Outage, sourceFailures, sourceOutage } from './weather.ts';

export interface SimulationGiven {
  readonly config: Config;
  /** First and last instant, epoch milliseconds; what fires at `until` is not fired any more. */
  readonly from: number;
  readonly until: number;
  /** Bad weather, the same for the same seed; absent: everything works. */
  readonly faults?: number;
  /** Part of the runs that bring something new; absent: as in the past, or all. */
  readonly changes?: number;
  /** What the last runs of the jobs were like, by name. */
  readonly past: ReadonlyMap<string, PastRuns>;
  readonly signal: AbortSignal;
  /** Where its own state lies meanwhile; absent: in memory or among the temporary files. */
  readonly scratch?: string;
  /** Told every simulated hour. */
  readonly onHour?: (now: number) => void;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** What was fired before the end may come to its end within this. */
const afterMs = 15 * minuteMs;
/** Where nothing is known of a job, its payloads count for as much. */
const usualBytes = 10_000;
const noSeed = 0;
const memory = '/dev/shm';
const enoughBytes = 1_000_000_000;

/**
 * Lets the daemon itself go through a span of time with the config's jobs, on a clock whose time passes when nothing is
 * left to do, against an embedded service that has the limits of the config. Sources are not asked: rows, sizes and
 * durations are made up by the past. Nothing of the config's state or destination is touched; what the simulation writes
 * is gone when this returns, however it returns. Rejects with the signal's reason when aborted.
 */
export async function simulate(given: SimulationGiven): Promise<SimulationReport> {
  const folder = await makeTempFolder('simulate', given.scratch ?? (await scratchRoot()));
  try {
    return await simulateIn(folder, given);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Memory, if Linux offers enough of it to this user: each payload is a file, and gone soon after. */
async function scratchRoot(): Promise<string> {
  try {
    await access(memory, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(memory);
    return bavail * bsize > enoughBytes ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

async function simulateIn(folder: string, given: SimulationGiven): Promise<SimulationReport> {
  const { config, from, faults, changes, past } = given;
  // A firing at the very first instant is one of the span.
  const clock = new VirtualClock(from - 1);
  const failures = faults === undefined ? 0 : sourceFailures;
  const away = faults === undefined ? undefined : sourceOutage(faults, given);
  const habits = { seed: faults ?? noSeed, changes, failures, past, away };
  const stage = setStage(config, { clock, habits });
  const fixtures = join(folder, 'fixtures.json');
  await writeFile(fixtures, JSON.stringify(stage.fixtures));
  // The service looks at its clock with every request; by itself it need not.
  const service = await startService({ data: 'memory', fixtures, clock, control: {}, tickMs: hourMs });
  try {
    return await play(given, { clock, stage, service, folder, away });
  } finally {
    await service.close();
  }
}

interface Played {
  readonly clock: VirtualClock;
  readonly stage: Stage;
  readonly service: RunningService;
  readonly folder: string;
  readonly away: Outage | undefined;
}

async function play(
  given: SimulationGiven,
  { clock, stage, service, folder, away }: Played,
): Promise<SimulationReport> {
  const { from, until, faults, past, signal } = given;
  const seed = faults ?? noSeed;
  const config = stage.configFor({ url: service.url, state: join(folder, 'state') });
  const network = simulatedNetwork({ clock, seed });
  const runtime = await wire({ config, clock, network, durable: false });
  try {
    await rememberTargets(runtime, { stage, url: service.url });
    const bytesOf = (job: string): number => past.get(job)?.bytes || usualBytes;
    const watch = new Watch({ clock, jobs: config.jobs.keys(), until, bytesOf });
    runtime.events.listen(watch.listen);
    const timer = watch.over(createTimer(clock, tickOf(clock)));
    const daemon = new Daemon({ runtime, config, timer });
    const weather = { clock, control: service.control!, seed, spanMs: until - from };
    const outageAt = faults === undefined ? undefined : await badWeather(weather);
    await clock.drive(daemon.start(), signal);
    try {
      await passTime(given, { clock, watch });
    } finally {
      await clock.drive(daemon.stop('the simulation has ended'));
    }
    const destinations = [...config.destinations.values()];
    const knownJobs = [...config.jobs.keys()].filter((job) => past.has(job)).length;
    const span = { from, until, seed, knownJobs, outageAt, awayAt: away?.from };
    const accountOf = (job: string): string => config.jobs.get(job)!.destination.account;
    return await reportSimulation({ ...span, destinations, store: runtime.store, watch, accountOf });
  } finally {
    await runtime.close();
  }
}

async function rememberTargets({ store }: Runtime, { stage, url }: { stage: Stage; url: string }): Promise<void> {
  for (const { id, name, format, ...client } of stage.declared) {
    await store.targets.remember({ url, name, ...client }, { datasource: id, instance: id, format });
  }
}

/** Until the end, and then until what was begun has ended, if that takes no longer than it should. */
async function passTime(
  { until, signal, onHour }: SimulationGiven,
  { clock, watch }: { clock: VirtualClock; watch: Watch },
): Promise<void> {
  while (clock.now() < until) {
    await clock.drive(clock.sleep(Math.min(hourMs, until - clock.now())), signal);
    onHour?.(clock.now());
  }
  while (!watch.isAtRest && clock.now() < until + afterMs) await clock.drive(clock.sleep(1_000), signal);
}
