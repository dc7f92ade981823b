import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/config.ts';
import type { Runtime } from '../../daemon/compose.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import type { Monitoring } from '../../daemon/monitoring.ts';
import { countOf } from '../../lib/count-text.ts';
import type { Log } from '../../lib/log.ts';
import { Problem, toProblem } from '../../lib/problem.ts';
import type { StateLocation } from '../../state/engine/state-database.ts';
import type { SyncListener } from '../hand-over/listener.ts';
import { logProblems } from '../output/log-problems.ts';

/** A running daemon, and the config that the daemon started with. */
export interface Reloading {
  readonly file: string;
  readonly daemon: Daemon;
  readonly monitoring: Monitoring;
  readonly runtime: Runtime;
  readonly config: Config;
  readonly log: Log;
  /** Absent if commands can't hand over their runs to this daemon. */
  readonly syncs?: SyncListener | undefined;
}

export interface Reloads {
  /** Requests a reload, as SIGHUP does. */
  request(): void;
  end(): Promise<void>;
  between(work: () => Promise<void>): Promise<void>;
}

/**
 * SIGHUP reloads the config: all or nothing. A signal that arrives before the daemon has started doesn't end the
 * process; the reload happens after the start. Signals during a reload trigger one more reload, which starts after the
 * last signal and therefore reads the newest file.
 */
export function listenForReload(started: Promise<Reloading>): Reloads {
  let last = Promise.resolve();
  let isWaiting = false;
  const over = new AbortController();
  const onHup = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    last = last.then(async () => {
      const given = await started;
      isWaiting = false;
      if (!over.signal.aborted) await reloadSafely(given, over.signal);
    });
  };
  process.on('SIGHUP', onHup);
  /** Stops listening for reloads. Resolves when the reload in progress, if any, has ended. */
  const end = (): Promise<void> => {
    over.abort(new Error('the daemon stops'));
    process.off('SIGHUP', onHup);
    return last;
  };
  /** Runs work between reloads, never during one. */
  const between = (work: () => Promise<void>): Promise<void> => {
    last = last.then(async () => {
      if (!over.signal.aborted) await work();
    });
    return last;
  };
  return { request: onHup, end, between };
}

async function reloadSafely(given: Reloading, signal: AbortSignal): Promise<void> {
  // If the installed build has changed, a reload would mix modules from two builds. The required restart reads the
  // config anyway.
  if (given.runtime.installation?.look()) return;
  try {
    await given.monitoring.reload(() => reload(given, signal));
  } catch (error) {
    given.log.error('reload failed', { error: String(error) });
    await answerFault(given, error).catch(() => undefined);
  }
}

/** Also reports internal errors to the user who requested the reload. */
async function answerFault({ runtime, daemon }: Reloading, error: unknown): Promise<void> {
  const [{ recordedFault }, { newestRequest, answerReload }] = await Promise.all([
    import('../../daemon/config/config-record.ts'),
    import('../../daemon/config/reload-answer.ts'),
  ]);
  const fault = recordedFault(toProblem(error, { code: 'RELOAD_THREW', family: 'bug' }));
  const asked = await newestRequest(runtime.store);
  await answerReload({ asked, jobs: daemon.config.jobs.size, faults: [fault] }, runtime.store);
}

/** Resolves to a note for the service manager's status, or to undefined if the config was activated. */
async function reload(
  { file, daemon, runtime, config, log, syncs }: Reloading,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [
    { loadConfig },
    { recordOf: noteOf, prepareRecord: readyNote, saveRecord: keepNote, saveRejection: keepRefusal, recordedFault },
    { newestRequest, answerReload },
    { termsOf },
  ] = await Promise.all([
    import('../../config/load.ts'),
    import('../../daemon/config/config-record.ts'),
    import('../../daemon/config/reload-answer.ts'),
    import('../hand-over/config-terms.ts'),
  ]);
  const asked = await newestRequest(runtime.store);
  const note = await noteOf(file);
  const loaded = await loadConfig(file, { signal });
  if (signal.aborted) return undefined;
  logProblems(log, loaded.problems);
  const answer = (problems: readonly Problem[], more: { readonly note?: string } = {}): Promise<void> =>
    answerReload(
      {
        ...{ asked, jobs: daemon.config.jobs.size, config_sha256: note.sha256 },
        faults: problems.map(recordedFault),
        ...more,
      },
      runtime.store,
    );
  const refuse = async (problems: readonly Problem[]): Promise<string> => {
    await keepRefusal(note, runtime, problems);
    runtime.events.emit('config.refused', { file, errors: problems.length });
    await answer(problems);
    return `a newer config was refused: ${countOf(problems.length, 'error')}`;
  };
  const next = loaded.config;
  if (loaded.problems.length > 0 || next === undefined) return refuse(loaded.problems);
  if (!isDeepStrictEqual(locationOf(next), locationOf(config))) {
    const { stateText } = await import('../state-location.ts');
    log.error('the state cannot be moved while the daemon is running; restart the daemon', {
      now: stateText(config),
      asked: stateText(next),
    });
    return refuse([stateMoved(file, stateText(next))]);
  }
  const ready = await readyNote(note, loaded);
  const terms = termsOf(next, note, loaded);
  await daemon.adopt(next, note.sha256);
  syncs?.adopt(terms);
  await keepNote(ready, runtime);
  await answer([], staleCredentials());
  return undefined;
}

/**
 * systemd copies credentials (LoadCredential=) when the unit starts. Most versions don't refresh the copies on reload,
 * so Sluice would silently keep using an old key after a rotation.
 */
function staleCredentials(): { readonly note?: string } {
  const { CREDENTIALS_DIRECTORY: folder } = process.env;
  if (folder === undefined || folder === '') return {};
  const startedAt = Date.now() - process.uptime() * 1000;
  const isRenewed = readdirSync(folder).some((name) => statSync(join(folder, name)).mtimeMs > startedAt);
  return isRenewed
    ? {}
    : { note: `the credentials in ${folder} are those from the unit's start; to renew them, run systemctl restart` };
}

function locationOf({ state, stateDatabase }: StateLocation): StateLocation {
  return { state: resolve(state), stateDatabase };
}

function stateMoved(file: string, asked: string): Problem {
  return new Problem({
    code: 'CONFIG_STATE_MOVED',
    family: 'config',
    message: "Neither the state's location nor the login to its database can change while the daemon runs",
    where: { file },
    seen: asked,
    next: 'restart the daemon',
  });
}
