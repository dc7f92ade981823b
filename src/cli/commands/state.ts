import type { Command } from 'commander';
import type { Extract, Job } from '../../config/config.ts';
import { bytesOf } from '../../kept-rows/manifest.ts';
import { commandLine } from '../../lib/command-line.ts';
import { Problem, toProblem } from '../../lib/problem.ts';
import type { Store } from '../../state/store.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { bytesText, countText, instantText } from '../output/format.ts';
import { jsonOutput } from '../output/json-output.ts';
import { renderTable } from '../output/table.ts';
import { whyFlag } from '../payloads/decided-by.ts';
import type { Flags } from '../payloads/with-runtime.ts';

async function showState(job: string | undefined, flags: Flags): Promise<void> {
  const [{ withStore, show }, { chooseJob }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/choose-job.ts'),
  ]);
  await withStore(flags, async (store, config) => {
    const places = store === undefined ? [] : await placesOf(store, job);
    // The state may still contain jobs that were removed from the config.
    if (job !== undefined && places.length === 0) chooseJob(config, job);
    if (flags.json === true) return show({}, { text: jsonOutput(places), data: places });
    const none = `${job === undefined ? 'No job has a' : `${job} has no`} watermark or kept rows: every run reads everything.`;
    const text = job === undefined ? textOf(places) : [textOf(places), ...places.flatMap(wholeOf)].join('\n\n');
    show(flags, { text: places.length === 0 ? none : text, data: places });
  });
}

/** A job's checkpoint: its watermark and its kept rows. */
interface Place {
  readonly job: string;
  readonly watermark?: string;
  readonly run: string;
  readonly set_at: number;
  readonly kept?: { readonly rows: number; readonly bytes: number; readonly files: number };
  /** An unfinished backfill. */
  readonly backfill?: { readonly from: string; readonly to: string; readonly reached: string };
}

async function placesOf(store: Store, job: string | undefined): Promise<Place[]> {
  const places = new Map<string, Place>();
  for (const { job: name, text: watermark, run, set_at } of await store.watermarks.all(job)) {
    places.set(name, { job: name, watermark, run, set_at });
  }
  for (const { job: name, run, set_at, manifest } of await store.generations.all(job)) {
    const kept = { rows: manifest.rows, bytes: bytesOf(manifest), files: manifest.segments.length };
    const unfinished = await store.backfills.find(name);
    const backfill = unfinished && { from: unfinished.lower, to: unfinished.upper, reached: unfinished.reached };
    const known = places.get(name) ?? { job: name, run, set_at };
    places.set(name, { ...known, kept, ...(backfill === undefined ? {} : { backfill }) });
  }
  return [...places.values()].sort((a, b) => (a.job < b.job ? -1 : 1));
}

function textOf(places: readonly Place[]): string {
  const right = { align: 'right' as const };
  const titles = [
    { title: 'job' },
    { title: 'watermark' },
    { title: 'rows kept', ...right },
    { title: 'on disk', ...right },
    { title: 'set by run' },
    { title: 'at' },
  ];
  const cells = places.map(({ job, watermark, kept, run, set_at }) => [
    job,
    watermark ?? '–',
    kept === undefined ? '–' : countText(kept.rows),
    kept === undefined ? '–' : bytesText(kept.bytes),
    run,
    instantText(set_at),
  ]);
  const unfinished = places.flatMap(({ job, backfill }) => (backfill === undefined ? [] : [wordsOf(job, backfill)]));
  return [renderTable(titles, cells, { widest: 60, paper: process.stdout }), ...unfinished].join('\n\n');
}

/** The full watermark, in the format that `state set` accepts. The table may truncate it. */
function wholeOf({ watermark }: Place): string[] {
  return watermark === undefined ? [] : [`Full watermark:\n  ${watermark}`];
}

function wordsOf(job: string, { from, to, reached }: NonNullable<Place['backfill']>): string {
  return `Unfinished backfill of ${job}, ${from} to ${to}, reached ${reached}. To continue: ${commandLine('sluice', 'backfill', job, '--from', from, '--to', to)}`;
}

async function decide(job: string, text: string | undefined, flags: Flags): Promise<void> {
  const [{ withStore, show }, { currentDecider }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/decided-by.ts'),
  ]);
  await withStore(flags, async (store, config) => {
    let latter = text;
    const meant = (former: string): string => {
      latter = meantOf(text!, { job, former, extract: config.jobs.get(job)?.extract });
      return latter;
    };
    const decision = store?.watermarks.decide(job, text === undefined ? undefined : meant, currentDecider(flags.why));
    const result = (await decision) ?? 'unknown';
    if (result === 'busy') throw busy(job);
    if (result === 'unknown') throw unknown(job);
    const message =
      text === undefined
        ? `Cleared. The next run of ${job} reads everything.${lostWith(config.jobs.get(job))}`
        : `The next run of ${job} continues from ${latter}`;
    show(flags, { text: message, data: { job, watermark: latter ?? null } });
  });
}

/**
 * The watermark as the job's connector parses it. If the job isn't in the config, the watermark is unchanged. Throws a
 * Problem if the watermark is invalid.
 */
function meantOf(
  text: string,
  { job, former, extract }: { readonly job: string; readonly former: string; readonly extract: Extract | undefined },
): string {
  try {
    return extract?.source.connector.readsOnFrom?.(text, { former, query: extract.query }) ?? text;
  } catch (thrown) {
    const { code, family, message, seen, allowed } = toProblem(thrown, { code: 'STATE_WATERMARK', family: 'config' });
    throw new Problem({
      code,
      family,
      message: `${message}; nothing was changed`,
      where: { job },
      ...(seen === undefined ? {} : { seen }),
      ...(allowed === undefined ? {} : { allowed }),
      next: `sluice state show ${job}`,
    });
  }
}

/** Warns that there may be no other copy of the appended rows. */
function lostWith(job: Job | undefined): string {
  if (job?.extract?.write?.disposition !== 'append') return '';
  return `\nAppended rows that the source no longer returns will be missing after that run. To get them back: sluice rollback ${job.name}`;
}

function busy(job: string): Problem {
  return new Problem({
    code: 'STATE_BUSY',
    family: 'job',
    message: `Nothing was changed: a run of ${job} is in progress and may depend on the watermark`,
    next: 'wait until the run has ended ("sluice status"), or stop it',
  });
}

function unknown(job: string): Problem {
  return new Problem({
    code: 'STATE_NO_WATERMARK',
    family: 'config',
    message: `Nothing was changed: job "${job}" has no watermark`,
    next: 'sluice state show',
  });
}

export default {
  help: {
    examples: [
      ['sluice state show', 'all jobs'],
      ['sluice state set orders 2026-01-31T06:00:00Z --why "rows were corrected"', 'read again from there'],
      ['sluice state clear orders --why "the table was reloaded"', 'read everything again'],
    ],
  },
  register(program: Command): void {
    const state = program
      .command('state')
      .description("Shows and changes each job's watermark and kept rows. Changes are recorded in the audit log.");
    state
      .command('show', { isDefault: true })
      .description('Lists watermarks and kept rows.')
      .argument('[job]', 'only this job')
      .option(...configFlag)
      .option('--json', 'print JSON')
      .action(showState);
    state
      .command('clear')
      .description("Clears a job's watermark and kept rows, so that its next run reads everything.")
      .argument('<job>', 'name of the job')
      .option(...configFlag)
      .option(...whyFlag)
      .option('--json', 'print JSON')
      .action((job: string, flags: Flags) => decide(job, undefined, flags));
    state
      .command('set')
      .description(`Sets a job's watermark: a cursor value, or the full watermark that "state show JOB" prints.`)
      .argument('<job>', 'name of the job')
      .argument('<watermark>', 'such as 2026-11-21T06:00:00Z, or the full watermark')
      .option(...configFlag)
      .option(...whyFlag)
      .option('--json', 'print JSON')
      .action(decide);
  },
} satisfies CliCommand;
