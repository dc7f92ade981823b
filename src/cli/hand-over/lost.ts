import { commandLine } from '../../lib/command-line.ts';
import { Problem, renderProblem } from '../../lib/problem.ts';
import { exitCodeAfter } from '../exit.ts';
import { failureDocument } from '../sync/failure-document.ts';

/** Runs that a daemon accepted without ever reporting their results. */
export interface Loss {
  readonly why: string;
  readonly jobs: readonly string[];
  readonly json: boolean;
  readonly flag: string | undefined;
  /** The exit code, if this process received a signal. */
  readonly code: number | undefined;
}

/**
 * Reports that the result is unknown. If this process ran the jobs itself, it might deliver data twice, and it would
 * hide the fact that the daemon stopped responding.
 */
export function reportLoss({ why, jobs, json, flag, code }: Loss): void {
  const config = flag === undefined ? '' : ` ${commandLine('--config', flag)}`;
  const problem = new Problem({
    code: 'SYNC_RESULT_UNKNOWN',
    family: 'job',
    message: `The daemon that ran this sync has stopped or is not responding: ${why}`,
    seen: 'the results of these runs are unknown; unsent payloads are kept',
    next: `check what happened with sluice history${config}${jobs.length === 1 ? ` ${jobs[0]}` : ''}; then sync again`,
  });
  process.exitCode = code ?? exitCodeAfter(problem);
  if (json) process.stdout.write(failureDocument(problem, { faults: [], code: process.exitCode }));
  process.stderr.write(`${renderProblem(problem)}\n`);
}
