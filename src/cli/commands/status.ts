import type { Command } from 'commander';
import type { AccountStatus } from '../../daemon/report-accounts.ts';
import type { JobStatus, NeedyLogin, Status, StrandedStatus } from '../../daemon/report-status.ts';
import { holdingsText, roomAdvice } from '../../state/disk-problems.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { bytesText, countOf, countText, durationText, instantText } from '../figures.ts';
import { forMachines } from '../for-machines.ts';
import { outward } from '../outward.ts';
import { toneOf } from '../paint.ts';
import { printable, renderTable } from '../table.ts';

interface Flags {
  readonly config: string;
  readonly json?: true;
}

async function run({ config: file, json }: Flags): Promise<void> {
  const { config, problems, refused } = await openConfig(file);
  showProblems(problems);
  if (problems.length > 0) process.exitCode = exit.usage;
  const [{ openExisting }, { reportStatus }, { systemClock }] = await Promise.all([
    import('../existing-store.ts'),
    import('../../daemon/report-status.ts'),
    import('../../lib/clock.ts'),
  ]);
  const store = await openExisting(config);
  try {
    const status = await reportStatus(config, store, systemClock);
    const text =
      json === true ? forMachines(status) : textOf(status, { refused: [...refused.keys()], now: systemClock.now() });
    process.stdout.write(`${outward(text)}\n`);
  } finally {
    await store?.close();
  }
}

function textOf(
  { daemon, jobs, stranded, accounts, logins, disk, unwritable, alerts }: Status,
  { refused, now }: { refused: readonly string[]; now: number },
): string {
  const fires = daemon !== undefined && daemon.stopped === undefined;
  const table = renderTable(
    [
      { title: 'job' },
      { title: 'state', tone: toneOf },
      { title: 'data as of' },
      { title: 'age' },
      { title: 'next firing' },
      { title: 'last problem' },
    ],
    jobs.map((job) => rowOf(job, { now, fires })),
    { widest: 70, paper: process.stdout },
  );
  return [
    daemonText(daemon, jobs),
    '',
    ...(jobs.length === 0 ? [] : [table]),
    ...(jobs.length + refused.length === 0 ? ['The config has no job.'] : []),
    ...(refused.length === 0 ? [] : [`Cannot run until the config is mended: ${refused.join(', ')}`]),
    ...jobs.flatMap(({ job, stretched }) => (stretched === undefined ? [] : [`${job} ${stretched.says}.`])),
    ...troubleText(jobs.filter(({ state }) => !fine.test(state))),
    ...silenceText(jobs),
    ...stranded.map(strandedText),
    ...logins.map(loginText),
    ...diskText(disk),
    ...(unwritable === undefined ? [] : [printable(unwritable.says)]),
    ...alertsText(alerts),
    ...(accounts.length === 0 ? [] : ['', ...accounts.map(accountText)]),
  ].join('\n');
}

function daemonText(daemon: Status['daemon'], jobs: readonly JobStatus[]): string {
  if (daemon === undefined) {
    const waits = jobs.some(({ next_firing_at }) => next_firing_at !== undefined);
    return `No daemon is running on this state folder.${waits ? ' "sluice run" starts one.' : ''}`;
  }
  const running = `The daemon (${daemon.owner}) is running since ${instantText(daemon.since)}`;
  const stopped =
    daemon.stopped === undefined ? '' : `, but its schedules have stopped: ${printable(daemon.stopped)}. Restart it`;
  const config = configText(daemon.config);
  return `${running}${stopped}.${config}`;
}

function configText(config: NonNullable<Status['daemon']>['config']): string {
  if (config === undefined) return '';
  const { at, differs, refused } = config;
  if (refused !== undefined) {
    const faults = countOf(refused.faults.length, 'fault', 'faults');
    return ` It goes by the config of ${instantText(at)}: a reload was refused at ${instantText(refused.at)} for ${faults}, "sluice config show" lists them.`;
  }
  if (!differs) return '';
  return ` It goes by the config of ${instantText(at)}, which was edited since: "sluice check", then SIGHUP (systemctl reload) puts it in force.`;
}

/** States that ask nobody for anything. */
const fine = /^(delivered|unchanged|superseded|refreshed|running|owed|never ran|waiting for the quota .*)$/;
const namedAtMost = 5;

function troubleText(jobs: readonly JobStatus[]): string[] {
  const [first, ...others] = jobs.map(({ job }) => job);
  if (first === undefined) return [];
  const more = others.slice(0, namedAtMost - 1).join(', ');
  const rest = jobs.length > namedAtMost ? ` and ${countText(jobs.length - namedAtMost)} more` : '';
  const also = more === '' ? '' : `; the same for ${more}${rest}`;
  return [`"sluice explain ${first}" says why, and how to mend it${also}.`];
}

function rowOf(
  { job, enabled, state, last_run, last_delivered_at, next_firing_at, owed }: JobStatus,
  { now, fires }: { now: number; fires: boolean },
): string[] {
  const trouble = owed[0]?.message ?? last_run?.message;
  return [
    job,
    enabled ? state : `${state} (disabled)`,
    last_delivered_at === undefined ? '–' : instantText(last_delivered_at),
    last_delivered_at === undefined ? '–' : durationText(Math.max(0, now - last_delivered_at)),
    next_firing_at === undefined
      ? '–'
      : `${instantText(next_firing_at)}${!fires && next_firing_at < now ? ', overdue' : ''}`,
    trouble ?? '',
  ];
}

/** Sources that did not answer, each with the run that will notice first. */
function silenceText(jobs: readonly JobStatus[]): string[] {
  const silent = jobs.flatMap(({ job, next_firing_at, silent_source }) =>
    silent_source === undefined ? [] : [{ ...silent_source, job, at: next_firing_at ?? Number.POSITIVE_INFINITY }],
  );
  return [...Map.groupBy(silent, ({ source }) => source)].map(([source, readers]) => {
    const { job, at, since, message } = readers.toSorted((a, b) => a.at - b.at)[0]!;
    const when = at === Number.POSITIVE_INFINITY ? '' : ` at ${instantText(at)}`;
    return `${source} does not answer since ${instantText(since)}: ${printable(message)}. The next run of ${job}${when} will fail; "sluice explain ${job}" says how to mend it.`;
  });
}

function strandedText({ job, destination, deliverable, payloads }: StrandedStatus): string {
  const what = `${countOf(payloads, 'payload is', 'payloads are')} owed by job ${job}`;
  return deliverable
    ? `${what}, which the config does not have any more; "sluice run" and "sluice sync" deliver to ${destination}.`
    : `${what} to destination ${destination}, which the config does not have: owed until it is there again.`;
}

function loginText({ sources, message, next }: NeedyLogin): string {
  const why = message === undefined ? '' : ` ${printable(message)}.`;
  return `Needs a login: ${sources.join(', ')}.${why} Run: ${next}`;
}

function diskText(disk: Status['disk']): string[] {
  if (disk === undefined || disk.level === 0) return [];
  const { bytes, limit_bytes, room_bytes, holds, level } = disk;
  const room = level === 2 ? 'no room is left for another result' : `room for ${bytesText(room_bytes)} is left`;
  const said = `The state folder holds ${bytesText(bytes)} of ${bytesText(limit_bytes)}, ${room}: ${holdingsText(holds)}.`;
  const advice = roomAdvice(holds);
  return [advice === undefined ? said : `${said} To make some: ${advice}.`];
}

function alertsText(alerts: Status['alerts']): string[] {
  if (alerts === undefined) return [];
  const open = alerts.open === 0 ? [] : [`Wrong now: ${countText(alerts.open)}; "sluice alerts" lists it.`];
  const failing = alerts.failing.map(({ channel, type, problem, waiting }) => {
    if (type === 'heartbeat')
      return `The heartbeat ${channel} does not get through: ${printable(problem)}. Try it: sluice alerts test ${channel}`;
    const messages = countOf(waiting, 'message waits', 'messages wait');
    return `The alert channel ${channel} does not take messages: ${printable(problem)}; ${messages}. Once it is mended: sluice alerts test ${channel}`;
  });
  return [...open, ...failing];
}

function accountText(account: AccountStatus): string {
  const { destinations, used, others, limit, day, turns_at, spent_until, usage_refused } = account;
  const untold = usage_refused === undefined ? '' : `; what others use is not known: ${printable(usage_refused)}`;
  const by = others === 0 ? '' : ` (${countText(others)} by others)`;
  const spent =
    spent_until === undefined ? '' : `; the service says that nothing is left until ${instantText(spent_until)}`;
  return `${destinations.join(', ')}: ${countText(used)} of ${countText(limit)} requests used${by} on ${day} (New York), the day turns at ${instantText(turns_at)}${spent}${untold}`;
}

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('status')
      .description('Says of each job how fresh its data is, what it waits for, and when it fires next.')
      .option(...configFlag)
      .option('--json', 'for machines')
      .action(run);
  },
};
export default command;
