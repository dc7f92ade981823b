import { type Command, InvalidArgumentError } from 'commander';
import { describeSchedule, scheduleText } from '../../config/show/schedule-text.ts';
import { spanText } from '../../lib/span.ts';
import { timezoneFault } from '../../schedule/cron.ts';
import { nextFiring, type Schedule } from '../../schedule/schedule.ts';
import type { CliCommand } from '../command.ts';
import { chooseJobs, configFlag, openConfig, showProblems, withoutSecretsFlag } from '../config-file.ts';
import { exit } from '../exit.ts';
import { jsonOutput } from '../output/json-output.ts';
import { renderTable } from '../output/table.ts';
import '../../lib/temporal.ts';

interface Flags {
  readonly config: string;
  readonly withoutSecrets?: true;
  readonly next: number;
  readonly from?: number;
  readonly try?: string;
  readonly timezone: string;
  readonly json?: true;
}

/** A schedule and its job. The job is null for `--try`. A job without a schedule runs only on request. */
interface Shown {
  readonly job: string | null;
  readonly schedule?: Schedule;
  readonly enabled: boolean;
}

async function run(names: readonly string[], flags: Flags): Promise<void> {
  const shown = flags.try === undefined ? await ofConfig(names, flags) : await ofText(flags.try, flags);
  if (shown === undefined) return;
  const lines = shown.map((one) => ({ ...one, firings: firingsOf(one, flags) }));
  process.stdout.write(`${flags.json === true ? machinesText(lines) : textOf(lines)}\n`);
}

async function ofConfig(names: readonly string[], { config: file, withoutSecrets }: Flags): Promise<Shown[]> {
  const loaded = await openConfig(file, showProblems, { withoutSecrets });
  if (names.length > 0) return chooseJobs(loaded, names).jobs.map(shownOf);
  showProblems(loaded.problems);
  if (loaded.problems.length > 0) process.exitCode = exit.usage;
  return [...loaded.config.jobs.values()].map(shownOf);
}

const shownOf = ({ name: job, schedule, enabled }: { name: string; schedule?: Schedule; enabled: boolean }): Shown => ({
  job,
  enabled,
  schedule,
});

async function ofText(text: string, { timezone }: Flags): Promise<Shown[] | undefined> {
  const { trySchedule } = await import('../../config/parse/try-schedule.ts');
  const { schedule, problems } = trySchedule(text, timezone);
  showProblems(problems);
  if (problems.length > 0) process.exitCode = exit.usage;
  return problems.length > 0 ? undefined : [{ job: null, enabled: true, schedule }];
}

function firingsOf({ schedule, enabled }: Shown, { next, from = Date.now() }: Flags): number[] {
  const firings: number[] = [];
  if (schedule === undefined || !enabled) return firings;
  let at = nextFiring(schedule, from);
  while (at !== null && firings.length < next) {
    firings.push(at);
    at = nextFiring(schedule, at);
  }
  return firings;
}

type Line = Shown & { readonly firings: readonly number[] };

function textOf(lines: readonly Line[]): string {
  if (lines.length === 0) return 'The config has no jobs.';
  const rows = lines.flatMap(({ job, schedule, enabled, firings }) => {
    const words = schedule === undefined ? 'manual' : scheduleText(schedule);
    const later = schedule?.offset === undefined ? '' : `, ${spanText(schedule.offset)} later`;
    const none = enabled ? 'on request' : 'disabled: on request';
    const times = firings.map((at) => localText(at, schedule!.timezone));
    return (times.length === 0 ? [none] : times).map((time, n) =>
      n === 0 ? [job ?? '–', `${words}${later}`, schedule?.timezone ?? '', time] : ['', '', '', time],
    );
  });
  const titles = [{ title: 'job' }, { title: 'schedule' }, { title: 'zone' }, { title: 'fires' }];
  return renderTable(titles, rows, { paper: process.stdout });
}

/** The local time with its offset: `Sun 2026-10-25 02:30:00 +02:00`. */
function localText(at: number, timezone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
  const weekday = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'][local.dayOfWeek - 1];
  return `${weekday} ${local.toPlainDate()} ${local.toPlainTime().toString({ smallestUnit: 'second' })} ${local.offset}`;
}

function machinesText(lines: readonly Line[]): string {
  const described = lines.map(({ job, enabled, schedule, firings }) => ({
    job,
    enabled,
    schedule: schedule === undefined ? null : describeSchedule(schedule),
    firings: firings.map((at) => new Date(at).toISOString()),
  }));
  return jsonOutput(described);
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1000) return value;
  throw new InvalidArgumentError('Must be a whole number from 1 to 1000.');
}

function instant(text: string): number {
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return at;
  throw new InvalidArgumentError('Must be a date or time such as 2026-10-24 or 2026-10-24T18:00Z.');
}

function zone(text: string): string {
  const fault = timezoneFault(text);
  if (fault === undefined) return text;
  throw new InvalidArgumentError(`Must be a time zone such as Europe/Berlin: ${fault}.`);
}

export default {
  help: {
    examples: [
      ['sluice schedules', 'all jobs'],
      ['sluice schedules orders --next 3', 'one job'],
      [
        'sluice schedules --try "at 06:00, 18:30 on MON-FRI" --timezone Europe/Berlin',
        'a schedule that is not in the config',
      ],
      ['sluice schedules --try "30 2 * * *" --timezone Europe/Berlin --from 2026-10-24', 'across a clock change'],
    ],
  },
  register(program: Command): void {
    program
      .command('schedules')
      .description('Shows the next firings of jobs, or of a schedule to try out, in local time.')
      .argument('[jobs...]', 'names of jobs (default: all)')
      .option(...configFlag)
      .option(...withoutSecretsFlag)
      .option('-n, --next <firings>', 'firings per job', count, 3)
      .option('--from <instant>', 'show firings after this time (default: now)', instant)
      .option('--try <schedule>', "show this schedule instead of the config's")
      .option('--timezone <zone>', 'time zone of that schedule', zone, 'UTC')
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
