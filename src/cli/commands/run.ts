import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Config, MonitorAddress } from '../../config/config.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import type { Second } from '../../daemon/only-one.ts';
import type { Watchers } from '../../daemon/watchers.ts';
import type { Runtime } from '../../daemon/wire.ts';
import type { Level, Log } from '../../lib/log.ts';
import { placeOf, renderProblem } from '../../lib/problem.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems } from '../config-file.ts';
import { logFlag } from '../log-flag.ts';
import { monitorAddress } from '../monitor-flag.ts';
import { onStop } from '../signals.ts';
import { traceWhereAsked } from '../trace.ts';
import { version } from '../version.ts';

interface Flags {
  readonly config: string;
  readonly log: Level;
  readonly monitor?: MonitorAddress;
  readonly second: Second;
}

async function run({ config: file, log: level, monitor: asked, second }: Flags): Promise<void> {
  const stop = onStop();
  const started = Promise.withResolvers<Reloading>();
  const reloads = listenForReload(started.promise);
  const { noteOf, keepNote } = await import('../../daemon/config-note.ts');
  const note = await noteOf(file);
  const { config, problems } = await openConfig(file);
  showProblems(problems);
  const [{ openLogOn }, { wire }, { beTheOnlyOne }, { Daemon }, { Watchers }, { Systemd }] = await Promise.all([
    import('../human-log.ts'),
    import('../../daemon/wire.ts'),
    import('../../daemon/only-one.ts'),
    import('../../daemon/daemon.ts'),
    import('../../daemon/watchers.ts'),
    import('../../daemon/systemd.ts'),
  ]);
  const log = openLogOn(process.stdout, level);
  const runtime = await wire({ config, log });
  const flushTraces = await traceWhereAsked({ events: runtime.events, log });
  let watchers: Watchers | undefined;
  try {
    const systemd = new Systemd({ env: process.env, log });
    const inReserve = (holder: string): void => void systemd.reserve(holder);
    const lease = await beTheOnlyOne({ ...runtime, second, inReserve, signal: stop.signal });
    if (lease === undefined) return await systemd.stopping();
    const daemon = new Daemon({ runtime, config });
    const monitor = asked ?? config.monitor;
    const watch = { daemon, runtime, log, systemd, version, ...(monitor === undefined ? {} : { monitor }) };
    watchers = await Watchers.open(watch);
    await daemon.start();
    await keepNote(note, runtime);
    await watchers.started();
    started.resolve({ file, daemon, watchers, runtime, config, log });
    await aborted(stop.signal);
    const stopped = daemon.stop(String((stop.signal.reason as Error).message));
    await Promise.all([watchers.stopping(), reloads.end(), stopped]);
    await lease.release();
    log.info('daemon.stopped');
  } finally {
    watchers?.close();
    await runtime.close();
    await flushTraces();
    stop.done();
    process.exitCode = stop.code() === undefined ? process.exitCode : 0;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  // A listener alone keeps no process alive; the timer of the schedule does.
  return new Promise((done) => {
    if (signal.aborted) done();
    signal.addEventListener('abort', () => done(), { once: true });
  });
}

interface Reloading {
  readonly file: string;
  readonly daemon: Daemon;
  readonly watchers: Watchers;
  readonly runtime: Runtime;
  readonly config: Config;
  readonly log: Log;
}

/**
 * SIGHUP takes the config anew: whole, or not at all. One reload at a time, in the order of the signals; one that comes
 * before the daemon has started waits for it, instead of ending the process.
 */
function listenForReload(started: Promise<Reloading>): { end(): Promise<void> } {
  let last = Promise.resolve();
  const onHup = (): void => {
    last = last.then(async () => reloadSafely(await started));
  };
  process.on('SIGHUP', onHup);
  const end = (): Promise<void> => {
    process.off('SIGHUP', onHup);
    return last;
  };
  return { end };
}

async function reloadSafely(given: Reloading): Promise<void> {
  try {
    await given.watchers.reload(() => reload(given));
  } catch (error) {
    given.log.error('the reload met a fault', { error: String(error) });
  }
}

async function reload({ file, daemon, runtime, config, log }: Reloading): Promise<void> {
  const [{ loadConfig }, { noteOf, keepNote }] = await Promise.all([
    import('../../config/load.ts'),
    import('../../daemon/config-note.ts'),
  ]);
  const note = await noteOf(file);
  const loaded = await loadConfig(file);
  for (const problem of loaded.problems) {
    log.error('config.fault', { code: problem.code, place: placeOf(problem.where), fault: renderProblem(problem) });
  }
  const next = loaded.config;
  if (loaded.problems.length > 0 || next === undefined) {
    runtime.events.emit('config.refused', { file, faults: loaded.problems.length });
    return;
  }
  if (resolve(next.state) !== resolve(config.state)) {
    log.error('the state folder cannot be changed while running; restart to use it', {
      now: config.state,
      asked: next.state,
    });
    runtime.events.emit('config.refused', { file, faults: 1 });
    return;
  }
  await daemon.adopt(next);
  await keepNote(note, runtime);
}

const secondFlag = new Option('--second <what>', 'where another daemon has the state folder: end, or wait in reserve')
  .choices(['refuse', 'wait'])
  .default('refuse');

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('run')
      .description('The daemon: fires jobs on their schedules and delivers until it is told to stop.')
      .option(...configFlag)
      .option(
        '--monitor <host:port>',
        'answer /healthz, /readyz and /metrics there (default: not at all)',
        monitorAddress,
      )
      .addOption(secondFlag)
      .addOption(logFlag('standard output', 'info'))
      .addHelpText(
        'after',
        '\nSIGHUP takes the config anew, whole or not at all. SIGTERM and SIGINT end it within ten seconds, with 0;\nwhat is owed stays owed, the next start goes on.',
      )
      .action(run);
  },
};
export default command;
