import { AsyncLocalStorage } from 'node:async_hooks';
import type { Daemon } from '../../daemon/daemon.ts';
import type { SluiceEvents } from '../../daemon/events.ts';
import type { Events } from '../../lib/events.ts';
import { type Problem, renderProblem, toProblem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import { chooseJobs } from '../config-file.ts';
import { exitCodeAfter } from '../exit.ts';
import { withConfigFlag } from '../start/config-flag-hint.ts';
import { failureDocument } from '../sync/failure-document.ts';
import type { Terminal } from '../sync/summary.ts';
import { progressScreen, runAndShow } from '../sync/sync-run.ts';
import type { ConfigTerms } from './config-terms.ts';
import type { SyncRequest } from './protocol.ts';

export interface ServeSyncOptions {
  readonly daemon: Daemon;
  readonly terms: ConfigTerms;
  readonly request: SyncRequest;
  readonly terminal: Terminal;
  /** Aborted when the caller receives a stop signal or its connection closes. */
  readonly signal: AbortSignal;
  /** Returns the caller's exit code if it received a signal; otherwise, undefined. */
  readonly stopCode: () => number | undefined;
}

/** Identifies the caller on whose behalf the current code runs. */
const callers = new AsyncLocalStorage<object>();

/**
 * Runs jobs in this daemon as `sluice sync` would in its own process, with the same output. Resolves to the exit code;
 * never throws.
 */
export function serveSync(given: ServeSyncOptions): Promise<number> {
  const caller = {};
  return callers.run(caller, async () => {
    let isPrinted = false;
    try {
      return await runFor(given, caller, () => (isPrinted = true));
    } catch (thrown) {
      return fail(given, toProblem(thrown, { code: 'BUG', family: 'bug' }), isPrinted);
    }
  });
}

async function runFor(given: ServeSyncOptions, caller: object, onPrinted: () => void): Promise<number> {
  const { daemon, terms, request, terminal, stopCode } = given;
  const { flag, jobs: names, json, waitSeconds } = request;
  showWarnings(given);
  const { jobs } = chooseJobs({ ...terms.loaded, config: terms.config }, names);
  return daemon.lend(async ({ runtime, config, stopping }) => {
    const signal = AbortSignal.any([given.signal, stopping]);
    const code = await runAndShow({
      ...{ runtime, config, jobs, signal, json, waitSeconds, terminal, stopCode },
      isAll: names.length === 0,
      refused: [],
      events: eventsOf(runtime.events, caller),
      screen: progressScreen(terminal, json),
      print: (results) => {
        withConfigFlag(flag, results);
        onPrinted();
      },
    });
    if (stopping.aborted) terminal.stderr.write('The daemon that ran this sync was stopped.\n');
    return code;
  });
}

/** Selects the events of this caller's runs. Other runs of the same jobs are excluded. */
function eventsOf(events: Events<SluiceEvents>, caller: object): Pick<Events<SluiceEvents>, 'listen'> {
  const runs = new Set<string>();
  return {
    listen: (listener) =>
      events.listen((...event) => {
        const [, facts] = event;
        if (!('run' in facts)) return;
        if (callers.getStore() === caller) runs.add(facts.run);
        if (runs.has(facts.run)) listener(...event);
      }),
  };
}

/** Shows the warnings that the caller would see if it loaded the config itself. */
function showWarnings({ terms, request, terminal }: ServeSyncOptions): void {
  for (const warning of terms.loaded.warnings) {
    const named = warning.with({ where: { ...warning.where, file: request.config.name } });
    terminal.stderr.write(`warning ${redact(withConfigFlag(request.flag, () => renderProblem(named)))}\n`);
  }
}

function fail({ request, terminal, stopCode }: ServeSyncOptions, problem: Problem, isPrinted: boolean): number {
  const code = stopCode() ?? exitCodeAfter(problem);
  withConfigFlag(request.flag, () => {
    if (request.json && !isPrinted) terminal.stdout.write(failureDocument(problem, { faults: [], code }));
    terminal.stderr.write(`${redact(renderProblem(problem))}\n`);
  });
  return code;
}
