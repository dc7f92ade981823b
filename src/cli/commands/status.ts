import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import type { Loaded } from '../../config/load.ts';
import type { Condition } from '../../daemon/conditions/condition.ts';
import { affectedJobs, headlineOf } from '../../daemon/conditions/headline.ts';
import type { JobStatus } from '../../daemon/report/job-status.ts';
import type { AccountStatus } from '../../daemon/report/report-accounts.ts';
import type { Status } from '../../daemon/report/report-status.ts';
import type { Problem } from '../../lib/problem.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, type ShowProblems, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { daemonText, processLines } from '../output/daemon-text.ts';
import { countText, durationText, instantText } from '../output/format.ts';
import { jsonOutput } from '../output/json-output.ts';
import { toneOf } from '../output/paint.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { printable, renderTable } from '../output/table.ts';

interface Flags {
  readonly config: string;
  readonly json?: true;
}

async function run({ config: file, json }: Flags): Promise<void> {
  const faults: Problem[] = [];
  const show: ShowProblems = (problems, level) =>
    level === 'error' ? void faults.push(...problems) : showProblems(problems, level);
  const loaded = await openConfig(file, show).catch((thrown: unknown) => {
    if (faults.length === 0) throw thrown;
  });
  if (loaded !== undefined) return showStatus(loaded, json);
  const { statusWithoutConfig } = await import('../output/status-without-config.ts');
  process.stdout.write(`${sanitizeOutput(await statusWithoutConfig(file, { faults, json: json === true }))}\n`);
  process.exitCode = exit.usage;
}

async function showStatus({ config, problems }: Loaded & { config: Config }, json: true | undefined): Promise<void> {
  showProblems(problems);
  if (problems.length > 0) process.exitCode = exit.usage;
  const [{ openExistingStore }, { reportStatus }, { systemClock }] = await Promise.all([
    import('../../state/open-existing-store.ts'),
    import('../../daemon/report/report-status.ts'),
    import('../../lib/clock.ts'),
  ]);
  const store = await openExistingStore(config);
  try {
    const clock = store?.clock ?? systemClock;
    const status = await reportStatus(config, store, clock);
    const text = json === true ? jsonOutput(status) : textOf(status, clock.now());
    process.stdout.write(`${sanitizeOutput(text)}\n`);
  } finally {
    await store?.close();
  }
}

function textOf(status: Status, now: number): string {
  const { conditions, daemon, jobs, left_out, accounts } = status;
  const fires = daemon !== undefined && daemon.stopped === undefined;
  const waits = daemon === undefined && jobs.some(({ next_run_at }) => next_run_at !== undefined);
  const table = renderTable(
    [
      { title: 'job' },
      { title: 'state', tone: toneOf },
      { title: 'data as of' },
      { title: 'age' },
      { title: 'next run' },
      { title: 'last problem' },
    ],
    jobs.map((job) => rowOf(job, { now, fires })),
    { widest: 70, paper: process.stdout },
  );
  return [
    `${daemonText(daemon)}${waits ? ' "sluice run" starts one.' : ''}`,
    '',
    ...(jobs.length === 0 ? [] : [table, '']),
    ...processLines(status, now),
    `${headlineOf(conditions, [...jobs.map(({ job }) => job), ...left_out])}.`,
    ...conditions.slice(0, maxListed).map(conditionText),
    ...(conditions.length > maxListed
      ? [`and ${countText(conditions.length - maxListed)} more: sluice status --json`]
      : []),
    ...explainText([...affectedJobs(conditions, 'error')].filter((job) => !left_out.includes(job))),
    ...(accounts.length === 0 ? [] : ['', ...accounts.map(accountText)]),
  ].join('\n');
}

/**
 * Maximum number of conditions to show. More lines would push the table out of view. `--json` includes all conditions.
 */
const maxListed = 20;
const maxNamed = 5;

/** One line per condition. The text of some kinds of conditions already names the subject. */
function conditionText({ subject, level, what, fix }: Condition): string {
  const [kind = '', name] = subject.split(/:(.*)/s);
  const who = name === undefined || ['channel', 'stranded'].includes(kind) ? '' : `${printable(name)}: `;
  const next = fix === undefined ? '' : `. Fix: ${printable(fix)}`;
  return `  ${level === 'warning' ? 'warning: ' : ''}${who}${printable(what)}${next}`;
}

function explainText(jobs: readonly string[]): string[] {
  const [first, ...others] = jobs;
  if (first === undefined) return [];
  const more = others.slice(0, maxNamed - 1).join(', ');
  const rest = jobs.length > maxNamed ? ` and ${countText(jobs.length - maxNamed)} more` : '';
  const also = more === '' ? '' : `; the same for ${more}${rest}`;
  return [`"sluice explain ${first}" shows the cause and the fix${also}.`];
}

function rowOf(
  { job, enabled, state, last_run, last_delivered_at, next_run_at, owed }: JobStatus,
  { now, fires }: { now: number; fires: boolean },
): string[] {
  const trouble = owed[0]?.message ?? last_run?.message;
  return [
    job,
    enabled ? state : `${state} (disabled)`,
    last_delivered_at === undefined ? '–' : instantText(last_delivered_at),
    last_delivered_at === undefined ? '–' : durationText(Math.max(0, now - last_delivered_at)),
    next_run_at === undefined ? '–' : `${instantText(next_run_at)}${!fires && next_run_at < now ? ', overdue' : ''}`,
    trouble ?? '',
  ];
}

function accountText(account: AccountStatus): string {
  const { destinations, used, others, limit, day, turns_at, spent_until, usage_refused, sender } = account;
  const unknownUsage =
    usage_refused === undefined ? '' : `; usage by other clients is unknown: ${printable(usage_refused)}`;
  const by = others === 0 ? '' : ` (${countText(others)} by others)`;
  const spent =
    spent_until === undefined ? '' : `; the service reports no requests left until ${instantText(spent_until)}`;
  const sends = sender === undefined ? '' : `; ${sender} is sending`;
  return `${destinations.join(', ')}: ${countText(used)} of ${countText(limit)} requests used${by} on ${day} (New York); the allowance resets at ${instantText(turns_at)}${spent}${unknownUsage}${sends}`;
}

export default {
  help: {
    examples: [
      ['sluice status', 'all jobs, and what needs attention'],
      ['sluice status --json', 'for scripts'],
    ],
  },
  register(program: Command): void {
    program
      .command('status')
      .description('Shows the data freshness, state and next run of each job, and current problems.')
      .option(...configFlag)
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
