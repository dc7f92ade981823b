import { type Command, InvalidArgumentError } from 'commander';
import type { AccountPlan, PlanReport } from '../../daemon/plan/report-plan.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems, withoutSecretsFlag } from '../config-file.ts';
import { exit } from '../exit.ts';
import { countOf, countText } from '../output/format.ts';
import { jsonOutput } from '../output/json-output.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { renderTable } from '../output/table.ts';
import '../../lib/temporal.ts';

interface Flags {
  readonly config: string;
  readonly withoutSecrets?: true;
  readonly until?: number;
  readonly firings?: true;
  readonly json?: true;
}

/** If there are more firings than this, the plan has one line per job instead of one per firing. */
const maxLines = 40;
/** Maximum number of jobs to list by name in a sentence. */
const maxNamed = 10;
const right = { align: 'right' as const };
let clockFormat: Intl.DateTimeFormat | undefined;

async function run({ config: file, until, firings, json, withoutSecrets }: Flags): Promise<void> {
  const { config, problems } = await openConfig(file, showProblems, { withoutSecrets });
  showProblems(problems);
  const [{ openExistingStore }, { reportPlan }] = await Promise.all([
    import('../../state/open-existing-store.ts'),
    import('../../daemon/plan/report-plan.ts'),
  ]);
  const store = await openExistingStore(config);
  const now = store?.clock.now() ?? Date.now();
  try {
    const report = await reportPlan({ config, store, now, until });
    process.stdout.write(
      `${sanitizeOutput(json === true ? jsonOutput(report) : textOf(report, firings ? Number.POSITIVE_INFINITY : maxLines))}\n`,
    );
    if (problems.length > 0) process.exitCode = exit.usage;
    else if (!report.fits) process.exitCode = exit.failed;
  } finally {
    await store?.close();
  }
}

/** Formats the plan. Lists the firings one by one unless there are more than `most`. */
function textOf(report: PlanReport, maxFirings: number): string {
  const { firings = [], firings_in_all: all, until, accounts } = report;
  if (accounts.length === 0) return 'Nothing to plan: no destination in this config is usable.';
  const listed = firings.length === 0 || all > maxFirings ? [] : [firingsTable(firings), ''];
  const more = firings.length > maxFirings ? ' "sluice plan --firings" lists them.' : '';
  const title = `${countOf(all, 'firing')} until ${timeText(until)}.${more}`;
  return [title, '', ...listed, ...accounts.map((account) => accountText(account)).flatMap((text) => [text, ''])]
    .join('\n')
    .trimEnd();
}

function firingsTable(firings: NonNullable<PlanReport['firings']>): string {
  return renderTable(
    [
      { title: 'fires' },
      { title: 'job' },
      { title: 'worst', ...right },
      { title: 'expected', ...right },
      { title: '' },
    ],
    firings.map(({ at, job, worst, expected, short }) => [
      timeText(at),
      job,
      partText(worst),
      partText(expected),
      short ? 'not sent' : '',
    ]),
    { paper: process.stdout },
  );
}

function accountText(plan: AccountPlan): string {
  const { destinations, day, limit, used, others, owed, worst, expected } = plan;
  const by = others === 0 ? '' : ` (${countText(others)} by others)`;
  const sum = (of: (one: AccountPlan['by_job'][number]) => number): string =>
    countText(plan.by_job.reduce((total, one) => total + of(one), 0));
  const rows = plan.by_job.map((one) => [
    one.job,
    ...[one.firings, one.worst, one.retries, one.expected, one.short].map(countText),
  ]);
  const total = [
    'total with owed payloads',
    countText(plan.firings),
    countText(worst.wanted),
    sum(({ retries }) => retries),
    countText(expected.wanted),
    sum(({ short }) => short),
  ];
  const titles = ['firings', 'worst', 'retries', 'expected', 'not sent'].map((title) => ({ title, ...right }));
  return [
    `${destinations.join(', ')}: ${day} in New York, ${countText(limit)} requests available for schedules, ${countText(used)} used${by}, ${countText(owed)} owed`,
    renderTable([{ title: 'job' }, ...titles], [...rows, total], { paper: process.stdout }),
    verdictOf(plan),
    ...throttledText(plan),
    ...guessedText(plan),
  ].join('\n');
}

/** What the daemon does about it. */
function throttledText({ throttled }: AccountPlan): string[] {
  if (throttled.length === 0) return [];
  const lines = throttled.slice(0, maxNamed).map(({ job, message }) => `  ${job} ${message}`);
  const more = throttled.length > lines.length ? [`  and ${countText(throttled.length - lines.length)} more jobs`] : [];
  return ['the daemon throttles these jobs (when_short: throttle):', ...lines, ...more];
}

function guessedText({ guessed }: AccountPlan): string[] {
  if (guessed.length === 0) return [];
  const names = guessed.slice(0, maxNamed).join(', ');
  const more = guessed.length > maxNamed ? ` and ${countText(guessed.length - maxNamed)} more` : '';
  const what = guessed.length === 1 ? 'has' : 'have';
  return [`estimate: ${names}${more} ${what} no history yet, so each firing counts as one request`];
}

function verdictOf({ worst, expected, limit, spent_until, next }: AccountPlan): string {
  if (worst.fits)
    return `fits: the worst case leaves ${countText(worst.left)} of ${countText(limit)} requests; the expected case leaves ${countText(expected.left)}`;
  const firings = worst.short.reduce((sum, one) => sum + one.firings, 0);
  const names = worst.short.slice(0, 5).map(({ job }) => job);
  const more = worst.short.length > names.length ? ` and ${worst.short.length - names.length} more` : '';
  const hope = expected.fits
    ? `; the expected usage fits, with ${countText(expected.left)} left`
    : `; the expected usage reaches the limit at ${timeText(expected.ends_at!)}`;
  const spentText =
    spent_until === undefined ? '' : `; the service reports no requests left until ${timeText(spent_until)}`;
  return [
    `does not fit: in the worst case, requests run out at ${timeText(worst.ends_at!)} and the results of ${countOf(firings, 'firing')} of ${names.join(', ')}${more} will not be sent${hope}${spentText}`,
    `next: ${next.join('; or ')}`,
  ].join('\n');
}

/** Formats a time in the service's time zone: `2026-11-21 17:45 EST`. */
function timeText(at: number): string {
  clockFormat ??= new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', timeZoneName: 'short' });
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('America/New_York');
  const zone = clockFormat.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${zoned.toPlainDate()} ${zoned.toPlainTime().toString({ smallestUnit: 'minute' })} ${zone}`;
}

/** A number of requests, rounded to two decimal places. */
const partText = (requests: number): string => String(Number(requests.toFixed(2)));

function instant(text: string): number {
  const at = Date.parse(text);
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/.test(text) || Number.isNaN(at)) {
    throw new InvalidArgumentError('Must be a time with a time zone, such as 2026-11-21T22:00:00Z.');
  }
  if (at <= Date.now()) throw new InvalidArgumentError('Must be in the future.');
  return at;
}

export default {
  help: {
    exitCodes: [
      ['0', 'the worst case fits'],
      ['1', 'it does not'],
      ['2', 'the config has errors'],
    ],
    examples: [
      ['sluice plan', 'the rest of the day'],
      ['sluice plan --firings', 'with every firing'],
      [`sluice plan --until "$(date -u -d '3 days' +%FT%TZ)"`, 'the next three days'],
    ],
  },
  register(program: Command): void {
    program
      .command('plan')
      .description(
        "Checks whether the day's remaining firings fit each account's daily allowance, and shows which jobs do not fit.",
      )
      .option(...configFlag)
      .option(...withoutSecretsFlag)
      .option(
        '--until <instant>',
        'end of the period, ISO 8601 with a time zone (default: next midnight in New York)',
        instant,
      )
      .option('--firings', `list every firing, even if there are more than ${maxLines}`)
      .option('--json', 'print JSON; lists every firing')
      .action(run);
  },
} satisfies CliCommand;
