import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Config, MonitorAddress } from '../../config/config.ts';
import type { Runtime } from '../../daemon/compose.ts';
import type { PreparedRecord } from '../../daemon/config/config-record.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import type { Poll } from '../../daemon/fleet/poll.ts';
import type { Pages } from '../../daemon/monitor/monitor.ts';
import type { Monitoring } from '../../daemon/monitoring.ts';
import type { IfRunning } from '../../daemon/process/single-instance.ts';
import { build } from '../../lib/build.ts';
import { countOf } from '../../lib/count-text.ts';
import type { Level, Log } from '../../lib/log.ts';
import type { Problem } from '../../lib/problem.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, type ShowProblems, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import type { ConfigTerms } from '../hand-over/config-terms.ts';
import type { SyncListener } from '../hand-over/listener.ts';
import { logFlag } from '../log-flag.ts';
import { logProblems } from '../output/log-problems.ts';
import { listenForReload, type Reloading, type Reloads } from '../reload/reloads.ts';
import { onStop } from '../signals.ts';
import { failOnConfigErrors, failOnSilentSources, retryConfig } from '../start/start-errors.ts';
import { startTracing } from '../start/start-tracing.ts';
import { openRuntime, untilAvailable } from '../start/until-available.ts';

interface Flags {
  readonly config: string;
  readonly log: Level;
  readonly monitor?: MonitorAddress;
  readonly second: IfRunning;
  readonly concurrency?: number;
  readonly workOnly?: true;
  readonly strict?: true;
}

async function run({
  config: file,
  log: level,
  monitor: asked,
  second,
  strict,
  concurrency,
  workOnly,
}: Flags): Promise<void> {
  const stop = onStop();
  const started = Promise.withResolvers<Reloading>();
  const reloads = listenForReload(started.promise);
  const { open: openLog, show, isForPeople } = startLog(level);
  const endEarly = (): void => {
    process.exitCode = exit.ok;
    stop.done();
  };
  const taken = await takeConfig(file, { strict: strict === true, show, signal: stop.signal });
  if (taken === undefined) return endEarly();
  const { config, note, leftOut, terms } = taken;
  const [
    log,
    { acquireSingleInstance },
    { Daemon },
    { Monitoring },
    { Systemd },
    { saveRecord },
    { Installation },
    { LoopWatch },
    { SyncListener },
    { saveProcess },
  ] = await Promise.all([
    openLog(),
    import('../../daemon/process/single-instance.ts'),
    import('../../daemon/daemon.ts'),
    import('../../daemon/monitoring.ts'),
    import('../../daemon/process/systemd.ts'),
    import('../../daemon/config/config-record.ts'),
    import('../../daemon/process/installation.ts'),
    import('../../daemon/loop-watch/loop-watch.ts'),
    import('../hand-over/listener.ts'),
    import('../../daemon/process/process-record.ts'),
  ]);
  const starting = { config, log, stop: stop.signal };
  const whenAvailable = untilAvailable(starting);
  const wired = await openRuntime(starting, whenAvailable);
  if (wired === undefined) return endEarly();
  const changed = (problem: Problem): void => reportExchange(problem, wired);
  const installation = new Installation({ changed });
  installation.signal.addEventListener('abort', () => stop.end(installation.signal.reason), { once: true });
  const runtime: Runtime = { ...wired, installation };
  const flushTraces = await startTracing({ events: runtime.events, log });
  const loopWatch = new LoopWatch({
    folder: runtime.store.folder,
    events: runtime.events,
    ...(isForPeople ? {} : { log: 1 }),
  });
  let daemon: Daemon | undefined;
  let end: Problem | undefined;
  let monitoring: Monitoring | undefined;
  let syncs: SyncListener | undefined;
  let requests: Poll | undefined;
  try {
    const systemd = new Systemd({ env: process.env, log });
    if (config.stateDatabase !== undefined) {
      await saveProcess(runtime);
      await saveRecord(note, runtime);
    }
    const inReserve = (holder: string): void => void systemd.reserve(holder);
    const isFleet = config.stateDatabase !== undefined;
    // The processes of a fleet work at the same time.
    const lease = isFleet
      ? undefined
      : await acquireSingleInstance({ ...runtime, second, inReserve, signal: stop.signal });
    if (lease === undefined && !isFleet) return await systemd.stopping();
    loopWatch.start();
    await failOnSilentSources(config, runtime, stop.signal);
    const outdated = (problem: Problem): void => {
      end = problem;
      stop.end(problem);
    };
    const fleet = isFleet ? { configHash: note.sha256, concurrency, isWorkOnly: workOnly, outdated } : undefined;
    const begun = new Daemon({ runtime, config, fleet });
    daemon = begun;
    const monitor = asked === undefined ? config.monitor : { ...config.monitor, ...asked };
    const asking = monitor === undefined ? {} : { monitor, pages: await pagesOf(daemon, runtime) };
    const opened = await Monitoring.open({ daemon, runtime, log, systemd, ...asking });
    monitoring = opened;
    await whenAvailable(() => begun.start({ config_sha256: note.sha256 }));
    await saveRecord(note, runtime);
    const remark = leftOut === 0 ? undefined : `${countOf(leftOut, 'job')} skipped because of config errors`;
    await whenAvailable(() => opened.started(remark));
    syncs = await SyncListener.open({ daemon, runtime });
    syncs?.adopt(terms);
    const reloading = { file, daemon, monitoring, runtime, config, log, syncs };
    started.resolve(reloading);
    if (isFleet) requests = await watchFleetReloads(runtime, reloads, stop.signal);
    if (config.onStartError === 'retry') void retryConfig(reloading, reloads, stop.signal);
    await aborted(stop.signal);
    syncs?.close();
    const stopped = daemon.stop(String((stop.signal.reason as Error).message));
    await Promise.all([monitoring.stopping(), reloads.end(), stopped]);
    await requests?.idle();
    await lease?.release();
    log.info('daemon.stopped');
    if (end !== undefined) throw end;
  } catch (thrown) {
    // If the startup fails after the schedules have started, their timers would keep the process running.
    await daemon?.stop('the startup failed').catch(() => undefined);
    // A process that must end doesn't wait for a database that hangs, and this isn't an error.
    const { isUnwritable } = await import('../../state/engine/state-problem.ts');
    if (!stop.signal.aborted || !isUnwritable(thrown)) throw thrown;
  } finally {
    syncs?.close();
    monitoring?.close();
    installation.close();
    loopWatch.close();
    if (config.stateDatabase !== undefined) await forgetProcess(runtime);
    await runtime.close();
    await flushTraces();
    stop.done();
    if (stop.code() !== undefined) process.exitCode = exit.ok;
    else if (installation.signal.aborted) process.exitCode = exit.restart;
  }
}

async function watchFleetReloads({ store, clock }: Runtime, { request }: Reloads, stop: AbortSignal): Promise<Poll> {
  const { watchReloadRequests } = await import('../../daemon/fleet/reload-requests.ts');
  const startedAt = clock.now() - process.uptime() * 1000;
  return watchReloadRequests({ store, clock, startedAt, reload: request, stop });
}

/** Deletes what this process has recorded about itself. If that fails, the next process that starts deletes it. */
async function forgetProcess({ store }: Runtime): Promise<void> {
  await store.settle('process', ({ processSettings }) => processSettings.forget()).catch(() => undefined);
}

function reportExchange({ code, message, seen = '' }: Problem, { events }: Runtime): void {
  events.emit('daemon.outdated', { code, message, seen });
}

async function pagesOf(daemon: Daemon, { store, clock }: Runtime): Promise<Pages> {
  const { Console } = await import('../../console/console.ts');
  const pages = new Console({ config: () => daemon.config, store, clock, version: build.version });
  return (url) => pages.answer(url);
}

/**
 * Loads the config in a function of its own, because the source document is much larger than the result. The source
 * document's memory is released when this function returns. Resolves to undefined if the process must end meanwhile.
 */
async function takeConfig(
  file: string,
  { strict, show, signal }: { strict: boolean; show: ShowProblems; signal: AbortSignal },
): Promise<{ config: Config; note: PreparedRecord; leftOut: number; terms: ConfigTerms } | undefined> {
  const [{ recordOf, prepareRecord }, { termsOf }] = await Promise.all([
    import('../../daemon/config/config-record.ts'),
    import('../hand-over/config-terms.ts'),
  ]);
  const note = await recordOf(file);
  const loaded = await openConfig(file, show, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (loaded === undefined) return undefined;
  await show(loaded.problems, 'error');
  const config = strict ? { ...loaded.config, onStartError: 'fail' as const } : loaded.config;
  failOnConfigErrors(config, loaded.problems);
  const terms = termsOf(config, note, loaded);
  return { config, note: await prepareRecord(note, loaded), leftOut: loaded.refused.size, terms };
}

function aborted(signal: AbortSignal): Promise<void> {
  // The scheduler's timer keeps the process alive.
  return new Promise((done) => {
    if (signal.aborted) done();
    signal.addEventListener('abort', () => done(), { once: true });
  });
}

const secondFlag = new Option('--second <what>', 'if another daemon uses the state: exit, or wait on standby')
  .choices(['refuse', 'wait'])
  .default('refuse');

const concurrencyFlag = new Option(
  '--concurrency <runs>',
  'maximum number of concurrent runs in this process, if the state is in a database (default: from the config)',
).argParser(runCount);

export default {
  help: {
    notes: [
      'SIGHUP reloads the config, all or nothing. SIGTERM and SIGINT stop the daemon within ten seconds, with exit code 0. Unsent payloads are kept and sent after the next start.',
    ],
    examples: [
      ['sluice run', 'until it is stopped'],
      ['sluice run --monitor 127.0.0.1:9464', 'with the status page and metrics'],
      ['sluice run --strict', 'only if there are no errors'],
    ],
  },
  register(program: Command): void {
    program
      .command('run')
      .description('Starts the daemon: runs jobs on their schedules and delivers their data until stopped.')
      .option(...configFlag)
      .option(
        '--monitor <host:port>',
        'serve the console, /healthz, /readyz and /metrics on this address (default: off)',
        monitorAddress,
      )
      .addOption(secondFlag)
      .addOption(concurrencyFlag)
      .option('--work-only', 'run jobs but never plan them, if the state is in a database')
      .option('--strict', 'start only if the config has no errors, every source responds and every login has a token')
      .addOption(logFlag('standard output', 'info'))
      .action(run);
  },
} satisfies CliCommand;

function runCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1000) {
    throw new InvalidArgumentError('Must be a whole number from 1 to 1000.');
  }
  return count;
}

/** Parses `HOST:PORT`, `[::1]:PORT` or only a port, which means loopback. */
function monitorAddress(text: string): MonitorAddress {
  const { host = '', port } = /^(?:(?<host>\[[\da-fA-F:.%]+\]|[^:[\]]+):)?(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  if (port === undefined || Number(port) > 65_535) {
    throw new InvalidArgumentError('Must be HOST:PORT, such as 127.0.0.1:9464.');
  }
  return { host: host === '' ? '127.0.0.1' : host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** The daemon's log on stdout, and how to show config errors at startup. */
interface StartLog {
  /**
   * Opens the log on first use. Without config errors, the log module is loaded in parallel with the rest of the
   * startup.
   */
  open(): Promise<Log>;
  /** Writes log lines if the output is for machines. Otherwise, writes text to stderr. */
  readonly show: ShowProblems;
  readonly isForPeople: boolean;
}

function startLog(level: Level): StartLog {
  const isForPeople = process.stdout.isTTY === true || level === 'silent';
  let opened: Promise<Log> | undefined;
  const open = (): Promise<Log> => (opened ??= openOnOutput(level));
  const show: ShowProblems = async (problems, at) => {
    if (problems.length > 0) logProblems(await open(), problems, at);
  };
  return { open, isForPeople, show: isForPeople ? showProblems : show };
}

async function openOnOutput(level: Level): Promise<Log> {
  const { openLogOn } = await import('../output/human-log.ts');
  return openLogOn(process.stdout, level);
}
