import { type Command, InvalidArgumentError } from 'commander';
import type { AccountPlan, PlanReport } from '../../daemon/report-plan.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { countOf, countText } from '../figures.ts';
import { forMachines } from '../for-machines.ts';
import { outward } from '../outward.ts';
import { renderTable } from '../table.ts';
import '../../lib/temporal.ts';

interface Flags {
  readonly config: string;
  readonly until?: number;
  readonly firings?: true;
  readonly json?: true;
}

/** Up to this many firings are shown one by one; more of them as one line a job. */
const mostLines = 40;
/** Jobs that a sentence names. */
const mostNamed = 10;
const right = { align: 'right' as const };
let clockFormat: Intl.DateTimeFormat | undefined;

async function run({ config: file, until, firings, json }: Flags): Promise<void> {
  const { config, problems } = await openConfig(file);
  showProblems(problems);
  const [{ openExisting }, { reportPlan }] = await Promise.all([
    import('../existing-store.ts'),
    import('../../daemon/report-plan.ts'),
  ]);
  const now = Date.now();
  const store = await openExisting(config);
  try {
    const report = await reportPlan({ config, store, now, until });
    process.stdout.write(
      `${outward(json === true ? forMachines(report) : textOf(report, firings ? Number.POSITIVE_INFINITY : mostLines))}\n`,
    );
    if (problems.length > 0) process.exitCode = exit.usage;
    else if (!report.fits) process.exitCode = exit.failed;
  } finally {
    await store?.close();
  }
}

/** `most`: more firings than this are not listed one by one. */
function textOf(report: PlanReport, most: number): string {
  const { firings = [], firings_in_all: all, until, accounts } = report;
  if (accounts.length === 0) return 'No destination of this config can be used, so there is nothing to reckon with.';
  const listed = firings.length === 0 || all > most ? [] : [firingsTable(firings), ''];
  const more = firings.length > most ? ' "sluice plan --firings" lists them.' : '';
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
      short ? 'goes short' : '',
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
    'total with what is owed',
    countText(plan.firings),
    countText(worst.wanted),
    sum(({ retries }) => retries),
    countText(expected.wanted),
    sum(({ short }) => short),
  ];
  const titles = ['firings', 'worst', 'of it retries', 'expected', 'short'].map((title) => ({ title, ...right }));
  return [
    `${destinations.join(', ')}: ${day} in New York, ${countText(limit)} requests for schedules, ${countText(used)} used${by}, ${countText(owed)} owed`,
    renderTable([{ title: 'job' }, ...titles], [...rows, total], { paper: process.stdout }),
    verdictOf(plan),
    ...throttledText(plan),
    ...guessedText(plan),
  ].join('\n');
}

/** What the daemon does about it by itself. */
function throttledText({ throttled }: AccountPlan): string[] {
  if (throttled.length === 0) return [];
  const said = throttled.slice(0, mostNamed).map(({ job, says }) => `  ${job} ${says}`);
  const more = throttled.length > said.length ? [`  and ${countText(throttled.length - said.length)} more jobs`] : [];
  return ['the daemon makes room by itself (when_short: throttle):', ...said, ...more];
}

function guessedText({ guessed }: AccountPlan): string[] {
  if (guessed.length === 0) return [];
  const names = guessed.slice(0, mostNamed).join(', ');
  const more = guessed.length > mostNamed ? ` and ${countText(guessed.length - mostNamed)} more` : '';
  const what = guessed.length === 1 ? 'has' : 'have';
  return [`a guess: ${names}${more} ${what} no history yet, so each firing counts as one request that is sent`];
}

function verdictOf({ worst, expected, limit, spent_until, next }: AccountPlan): string {
  if (worst.fits)
    return `fits: at worst ${countText(worst.left)} of ${countText(limit)} left, expected ${countText(expected.left)}`;
  const firings = worst.short.reduce((sum, one) => sum + one.firings, 0);
  const names = worst.short.slice(0, 5).map(({ job }) => job);
  const more = worst.short.length > names.length ? ` and ${worst.short.length - names.length} more` : '';
  const hope = expected.fits
    ? `; as is to be expected it fits, with ${countText(expected.left)} left`
    : `; as is to be expected it ends at ${timeText(expected.ends_at!)}`;
  const said =
    spent_until === undefined ? '' : `; the service says that nothing is left until ${timeText(spent_until)}`;
  return [
    `does not fit: from ${timeText(worst.ends_at!)} on, ${countOf(firings, 'send')} of ${names.join(', ')}${more} ${firings === 1 ? 'goes' : 'go'} short at worst${hope}${said}`,
    `next: ${next.join('; or ')}`,
  ].join('\n');
}

/** A time of the service's day as its people read it: `2026-11-21 17:45 EST`. */
function timeText(at: number): string {
  clockFormat ??= new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', timeZoneName: 'short' });
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('America/New_York');
  const zone = clockFormat.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${zoned.toPlainDate()} ${zoned.toPlainTime().toString({ smallestUnit: 'minute' })} ${zone}`;
}

/** Requests with at most two decimals. */
const partText = (requests: number): string => String(Number(requests.toFixed(2)));

function instant(text: string): number {
  const at = Date.parse(text);
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/.test(text) || Number.isNaN(at)) {
    throw new InvalidArgumentError('It takes an instant with its zone, such as 2026-11-21T22:00:00Z.');
  }
  if (at <= Date.now()) throw new InvalidArgumentError('It takes an instant that is still to come.');
  return at;
}

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('plan')
      .description(
        'Reckons whether the firings until the day turns fit the allowance of each account, and who goes short.',
      )
      .option(...configFlag)
      .option('--until <instant>', 'until when, ISO 8601 with a zone; else the next midnight in New York', instant)
      .option('--firings', `lists every firing, also where there are more than ${mostLines}`)
      .option('--json', 'for machines; lists every firing')
      .addHelpText(
        'after',
        '\nExits with 0 when the worst case fits, 1 when it does not, 2 when the config has a fault.',
      )
      .action(run);
  },
};
export default command;
