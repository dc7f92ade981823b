import type { RunOutcome } from '../../daemon/run/run-outcome.ts';
import { type Problem, renderProblem } from '../../lib/problem.ts';
import { exit, isBrokenInstallation } from '../exit.ts';
import { bytesText, countText, durationText, instantText } from '../output/format.ts';
import { jsonOutput, problemJson } from '../output/json-output.ts';
import { toneOf } from '../output/paint.ts';
import type { Screen } from '../output/progress.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { renderTable } from '../output/table.ts';
import { warningText } from '../output/warning-text.ts';
import { stopCode } from '../signals.ts';

/** Outcomes after which the instance shows the job's newest data. */
const good: readonly RunOutcome['state'][] = ['delivered', 'unchanged', 'refreshed', 'superseded'];

/** The exit code for these results: that of the most severe problem that someone must fix. */
export function exitCodeOf(outcomes: readonly RunOutcome[], refused: readonly string[]): number {
  const is = (test: (outcome: RunOutcome) => boolean): boolean => outcomes.some(test);
  if (refused.length > 0) return exit.usage;
  if (isBrokenInstallation(outcomes.map(({ problem }) => problem))) return exit.bug;
  if (
    is(
      ({ state, problem }) =>
        state === 'waiting_login' || (problem?.family === 'login' && problem.where.source === undefined),
    )
  ) {
    return exit.refused;
  }
  if (is(({ state, problem }) => !good.includes(state) && state !== 'waiting_quota' && problem?.family !== 'quota')) {
    return exit.failed;
  }
  return is(({ state }) => !good.includes(state)) ? exit.waiting : exit.ok;
}

/** The terminal where results are printed: this process's or a caller's. */
export interface Terminal {
  readonly stdout: Screen;
  readonly stderr: Screen;
}

export interface SummaryOptions {
  readonly outcomes: readonly RunOutcome[];
  readonly refused: readonly string[];
  readonly json: boolean;
  /** Returns the exit code for the received signal, or undefined if no signal was received. */
  readonly stopCode?: number | undefined;
  readonly terminal?: Terminal;
}

/** Prints the summary table or JSON. Prints problems in full to standard error. */
export function showSummary(given: SummaryOptions): void {
  const { outcomes, refused, json, stopCode: stopped = stopCode(), terminal: { stdout, stderr } = process } = given;
  if (json) {
    const code = stopped ?? exitCodeOf(outcomes, refused);
    stdout.write(`${sanitizeOutput(jsonOutput({ exit_code: code, jobs: outcomes.map(plain), refused }))}\n`);
    return;
  }
  for (const { problem, state, run, job, warnings = [] } of outcomes) {
    for (const warning of warnings) stderr.write(`${sanitizeOutput(warningText(warning, job))}\n`);
    if (problem !== undefined && state !== 'waiting_quota')
      stderr.write(`${sanitizeOutput(failureText(problem, run))}\n`);
  }
  if (outcomes.length === 0) stdout.write(`${nothingRan(refused)}\n`);
  else stdout.write(`\n${tableOf(outcomes, stdout)}\n`);
}

/** The problem with two additions: the run ID and the command that shows the run's details. */
function failureText(problem: Problem, run: string | undefined): string {
  return [
    renderProblem(problem),
    ...(run === undefined ? [] : [`  run      ${run}`, `  more     ${storyOf(run)}`]),
  ].join('\n');
}

/** The command that shows all of a run's details. */
const storyOf = (run: string): string => `sluice history --run ${run}`;

function nothingRan(refused: readonly string[]): string {
  if (refused.length === 0) return 'The config has no enabled jobs.';
  return `Nothing was run: the config has errors in ${refused.join(', ')}.`;
}

function tableOf(outcomes: readonly RunOutcome[], paper: Screen): string {
  const right = { align: 'right' as const };
  const columns = [
    { title: 'job' },
    { title: 'rows', ...right },
    { title: 'bytes', ...right },
    { title: 'requests', ...right },
    { title: 'time', ...right },
    { title: 'result', tone: toneOf },
  ];
  const rows = outcomes.map((one) => [
    one.job,
    countText(one.rows),
    bytesText(one.bytes),
    String(one.requests),
    durationText(one.milliseconds),
    sanitizeOutput(resultText(one)),
  ]);
  return renderTable(columns, rows, { widest: 100, paper });
}

function resultText({ job, state, problem, until }: RunOutcome): string {
  const at = until === undefined ? '' : instantText(until);
  if (state === 'owed') return `owed: the daemon will send it, or run "sluice sync ${job}"`;
  if (state === 'waiting_quota') return `owed: waiting for the daily quota until ${at}`;
  if (state === 'waiting_retry') return `owed: next attempt ${at}${problem === undefined ? '' : `: ${problem.code}`}`;
  if (state === 'waiting_login') return 'owed: the destination rejects the credentials';
  if (state === 'busy') return 'another run of this job is in progress';
  if (state === 'on_hold' && problem?.code === 'LOGIN_ON_HOLD') return 'on hold: login refused';
  if (state === 'on_hold') return `on hold; to resume, run "sluice resume ${job}"`;
  if (state === 'quarantined') return 'quarantined: the instance keeps its current data';
  return problem === undefined ? state : `${state}: ${problem.code}`;
}

function plain({ problem, milliseconds, ...facts }: RunOutcome): object {
  return {
    ...facts,
    milliseconds: Math.round(milliseconds),
    ...(problem === undefined || facts.run === undefined ? {} : { more: storyOf(facts.run) }),
    problem: problem === undefined ? undefined : problemJson(problem),
  };
}
