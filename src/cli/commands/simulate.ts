import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import type { PastRuns } from '../../state/runs/past-runs.ts';
import type { Store } from '../../state/store.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems, withoutSecretsFlag } from '../config-file.ts';
import { exit } from '../exit.ts';
import { jsonOutput } from '../output/json-output.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { onStop } from '../signals.ts';
import '../../lib/temporal.ts';

interface Flags {
  readonly config: string;
  readonly withoutSecrets?: true;
  readonly days: number;
  readonly from?: Temporal.PlainDate;
  readonly faults?: number;
  readonly changes?: number;
  readonly json?: true;
}

/** The time zone that determines the service's days. */
const zone = 'America/New_York';

async function run({ config: file, json, withoutSecrets, ...flags }: Flags): Promise<void> {
  const { config, problems } = await openConfig(file, showProblems, { withoutSecrets });
  showProblems(problems);
  const [{ simulate }, { simulationText }, { firingJobs }] = await Promise.all([
    import('../simulate/simulate.ts'),
    import('../simulate/text.ts'),
    import('../simulate/scenario.ts'),
  ]);
  if (firingJobs(config).length === 0) throw nothingFires(config);
  const stop = onStop();
  const progress = showProgress(spanOf(flags));
  try {
    const past = await pastOf(config);
    const report = await simulate({
      config,
      past,
      signal: stop.signal,
      ...spanOf(flags),
      ...given(flags),
      ...progress,
    });
    progress.end();
    process.stdout.write(`${sanitizeOutput(json === true ? jsonOutput(report) : simulationText(report))}\n`);
    if (problems.length > 0) process.exitCode = exit.usage;
    else if (!report.fits) process.exitCode = exit.failed;
  } finally {
    progress.end();
    stop.done();
  }
}

function given({ faults, changes }: Pick<Flags, 'faults' | 'changes'>) {
  return { faults, changes };
}

/** Whole service days, each of which may have 23, 24 or 25 hours. */
function spanOf({ days, from }: Pick<Flags, 'days' | 'from'>): { from: number; until: number } {
  const first = from ?? Temporal.Now.plainDateISO(zone);
  const at = (day: Temporal.PlainDate): number => day.toZonedDateTime(zone).epochMilliseconds;
  return { from: at(first), until: at(first.add({ days })) };
}

async function pastOf(config: Config): Promise<ReadonlyMap<string, PastRuns>> {
  const [{ openExistingStore }, { stateText }] = await Promise.all([
    import('../../state/open-existing-store.ts'),
    import('../state-location.ts'),
  ]);
  let store: Store | undefined;
  try {
    store = await openExistingStore(config);
    return (await store?.runStats.past()) ?? new Map();
  } catch (cause) {
    const message = `Cannot read the run history, so all jobs use default assumptions: ${(cause as Error).message}`;
    const next = 'sluice doctor';
    const seen = stateText(config);
    showProblems([new Problem({ code: 'SIMULATE_NO_PAST', family: 'job', message, seen, next, cause })]);
    return new Map();
  } finally {
    await store?.close();
  }
}

function nothingFires({ file, jobs }: Config): Problem {
  return new Problem({
    code: 'SIMULATE_NOTHING',
    family: 'config',
    message: 'Nothing to simulate: no enabled job has a schedule',
    where: { file },
    seen: jobs.size === 1 ? '1 job without a schedule' : `${jobs.size} jobs, none both enabled and scheduled`,
    next: 'give a job a schedule, as in: schedule: "0 6 * * *"',
  });
}

/** Prints a progress line if stderr is a terminal. */
function showProgress({ from, until }: { from: number; until: number }): { onHour(now: number): void; end(): void } {
  const screen = process.stderr;
  if (screen.isTTY !== true) return { onHour: () => undefined, end: () => undefined };
  return {
    onHour(now) {
      const day = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone);
      const part = Math.round((100 * (now - from)) / (until - from));
      screen.write(`\r\u001b[2Ksimulating ${day.toPlainDate()} ${day.toPlainTime().toString().slice(0, 5)}  ${part} %`);
    },
    end: () => screen.write('\r\u001b[2K'),
  };
}

function dayCount(text: string): number {
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= 366) return days;
  throw new InvalidArgumentError('Must be a whole number of days from 1 to 366.');
}

function dateOf(text: string): Temporal.PlainDate {
  try {
    if (!/^\d{4}-\d\d-\d\d$/.test(text)) throw new RangeError('no date');
    return Temporal.PlainDate.from(text, { overflow: 'reject' });
  } catch {
    throw new InvalidArgumentError('Must be a date such as 2026-10-30.');
  }
}

function seedOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Must be a whole number with at most nine digits.');
}

function partOf(text: string): number {
  const part = /^(0|1|0?\.\d+|1\.0+|0\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (part >= 0 && part <= 1) return part;
  throw new InvalidArgumentError('Must be a fraction from 0 to 1, such as 0.3.');
}

export default {
  help: {
    notes: [
      'The simulation reads no sources and sends nothing to your destinations. It generates rows with the size, duration and change rate of past runs, and sends them to an embedded service with your limits.',
    ],
    exitCodes: [
      [
        '0',
        "every job's newest result was delivered, no daily allowance ran out, and no firing was skipped for lack of requests",
      ],
      ['1', 'otherwise'],
      ['2', 'the config has errors'],
    ],
    examples: [
      ['sluice simulate', 'eight days from today'],
      ['sluice simulate --from 2026-10-30', 'across the end of daylight saving time in New York'],
      ['sluice simulate --faults 7 --changes 0.3', 'with outages, refusals and dropped connections'],
    ],
  },
  register(program: Command): void {
    program
      .command('simulate')
      .description('Simulates days of running the daemon with this config in seconds, and reports the outcome.')
      .option(...configFlag)
      .option(...withoutSecretsFlag)
      .option('--days <n>', 'number of days (midnight to midnight in New York)', dayCount, 8)
      .option('--from <date>', 'first day (default: today)', dateOf)
      .option('--faults <seed>', 'inject faults; the same seed gives the same faults', seedOf)
      .option(
        '--changes <part>',
        'fraction of runs with changed data (default: as in past runs, or 1 if there are none)',
        partOf,
      )
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
