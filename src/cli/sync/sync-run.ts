import type { Config, Job } from '../../config/config.ts';
import type { Runtime } from '../../daemon/compose.ts';
import type { SluiceEvents } from '../../daemon/events.ts';
import type { RunOutcome } from '../../daemon/run/run-outcome.ts';
import { syncJobs } from '../../daemon/run/sync-jobs.ts';
import type { Events } from '../../lib/events.ts';
import { redact } from '../../lib/redact.ts';
import type { Screen } from '../output/progress.ts';
import { followJobs } from './follow.ts';
import { exitCodeOf, showSummary, type Terminal } from './summary.ts';

export interface SyncRunOptions {
  readonly runtime: Runtime;
  readonly config: Config;
  readonly jobs: readonly Job[];
  /** True if the command line doesn't name any job. */
  readonly isAll: boolean;
  readonly refused: readonly string[];
  readonly signal: AbortSignal;
  readonly waitSeconds: number;
  readonly json: boolean;
  /** The events of these runs. */
  readonly events: Pick<Events<SluiceEvents>, 'listen'>;
  readonly terminal: Terminal;
  /** Where to draw progress; absent if progress isn't shown. */
  readonly screen: Screen | undefined;
  /** Returns the exit code for the received signal, or undefined if no signal was received. */
  readonly stopCode: () => number | undefined;
  /** Called with the function that prints the results. */
  readonly print: (results: () => void) => void;
}

/**
 * Runs jobs once, and prints their progress and results. Both `sync` and a daemon that runs jobs for `sync` call this
 * function. Resolves to the exit code.
 */
export async function runAndShow(given: SyncRunOptions): Promise<number> {
  const { jobs, refused, waitSeconds, events, screen, print, terminal, json } = given;
  const follow = followJobs(events, { screen, jobs });
  try {
    const outcomes = await syncJobs({ ...given, patienceMs: waitSeconds * 1000 });
    follow.stop();
    print(() => showSummary({ outcomes, refused, json, terminal, stopCode: given.stopCode() }));
    await sendAlerts({ ...given, outcomes });
    return given.stopCode() ?? exitCodeOf(outcomes, refused);
  } finally {
    follow.stop();
  }
}

/** Sends alerts. Reports a failure, but doesn't change the exit code. */
async function sendAlerts({
  runtime,
  config,
  outcomes,
  signal,
  terminal,
}: SyncRunOptions & { readonly outcomes: readonly RunOutcome[] }): Promise<void> {
  if (config.alerts === undefined || signal.aborted) return;
  const { alertAfterRun } = await import('../../daemon/alerting/alert-after-run.ts');
  await alertAfterRun({ runtime, config, outcomes, signal }).catch((error: unknown) => {
    runtime.log.error('alert check failed', { error: String(error) });
    terminal.stderr.write(`Alerts could not be sent: ${redact(String(error))}\n`);
  });
}

/** Progress is for people. If the output is JSON, show progress only on a terminal. */
export function progressScreen({ stderr }: Terminal, json: boolean): Screen | undefined {
  return json && stderr.isTTY !== true ? undefined : stderr;
}
