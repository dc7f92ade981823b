import type { Command } from 'commander';
import type { Extract, Job } from '../../config/config.ts';
import { bytesOf } from '../../kept-rows/manifest.ts';
import { commandLine } from '../../lib/command-line.ts';
import { Problem, toProblem } from '../../lib/problem.ts';
import type { Store } from '../../state/store.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { bytesText, countText, instantText } from '../figures.ts';
import { forMachines } from '../for-machines.ts';
import { whyFlag } from '../payloads/who.ts';
import type { Flags } from '../payloads/with-runtime.ts';
import { renderTable } from '../table.ts';

async function showState(job: string | undefined, flags: Flags): Promise<void> {
  const [{ withStore, show }, { chooseJob }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/choose-job.ts'),
  ]);
  await withStore(flags, async (store, config) => {
    const places = store === undefined ? [] : await placesOf(store, job);
    // The state may know a job that the config has lost.
    if (job !== undefined && places.length === 0) chooseJob(config, job);
    if (flags.json === true) return show({}, { text: forMachines(places), data: places });
    const none = `${job === undefined ? 'No job keeps a' : `${job} keeps no`} watermark or rows: every run reads everything.`;
    const text = job === undefined ? textOf(places) : [textOf(places), ...places.flatMap(wholeOf)].join('\n\n');
    show(flags, { text: places.length === 0 ? none : text, data: places });
  });
}

/** How far a job has come. */
interface Place {
  readonly job: string;
  readonly watermark?: string;
  readonly run: string;
  readonly set_at: number;
  /** The rows that it keeps. */
  readonly kept?: { readonly rows: number; readonly bytes: number; readonly files: number };
  /** A range that is being read again. */
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

/** The table may cut a watermark; this is what `state set` takes. */
function wholeOf({ watermark }: Place): string[] {
  return watermark === undefined ? [] : [`The watermark, whole:\n  ${watermark}`];
}

function wordsOf(job: string, { from, to, reached }: NonNullable<Place['backfill']>): string {
  return `${job} is reading ${from} to ${to} again, and has come to ${reached}: ${commandLine('sluice', 'backfill', job, '--from', from, '--to', to)}`;
}

async function decide(job: string, text: string | undefined, flags: Flags): Promise<void> {
  const [{ withStore, show }, { deciderOf }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/who.ts'),
  ]);
  await withStore(flags, async (store, config) => {
    let latter = text;
    const meant = (former: string): string => {
      latter = meantOf(text!, { job, former, extract: config.jobs.get(job)?.extract });
      return latter;
    };
    const decision = store?.watermarks.decide(job, text === undefined ? undefined : meant, deciderOf(flags.why));
    const result = (await decision) ?? 'unknown';
    if (result === 'busy') throw busy(job);
    if (result === 'unknown') throw unknown(job);
    const said =
      text === undefined
        ? `Forgotten. The next run of ${job} reads everything.${lostWith(config.jobs.get(job))}`
        : `The next run of ${job} goes on from ${latter}`;
    show(flags, { text: said, data: { job, watermark: latter ?? null } });
  });
}

/** As its connector understands it; a job that the config has no more keeps the text as it is. Throws a Problem for one that is none. */
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

/** Rows that were only ever added may be nowhere else. */
function lostWith(job: Job | undefined): string {
  if (job?.extract?.write?.disposition !== 'append') return '';
  return `\nRows that it had added and the source no longer gives will be missing then. To have them again after that run: sluice rollback ${job.name}`;
}

function busy(job: string): Problem {
  return new Problem({
    code: 'STATE_BUSY',
    family: 'job',
    message: `A run of ${job} is under way and may be reading on from its watermark; nothing was changed`,
    next: 'wait until it has ended ("sluice status"), or stop it',
  });
}

function unknown(job: string): Problem {
  return new Problem({
    code: 'STATE_NO_WATERMARK',
    family: 'config',
    message: `No watermark is kept for a job "${job}"; nothing was changed`,
    next: 'sluice state show',
  });
}

const command: CliCommand = {
  register(program: Command): void {
    const state = program
      .command('state')
      .description(
        'Shows how far jobs have read their sources and what rows they keep, and lets a person change it; every change is kept with a name.',
      )
      .addHelpText(
        'after',
        '\nExamples:\n  sluice state show\n  sluice state clear orders --why "the table was loaded anew"',
      );
    state
      .command('show', { isDefault: true })
      .description('Lists the watermarks, and the rows that jobs keep.')
      .argument('[job]', 'only of this job')
      .option(...configFlag)
      .option('--json', 'for machines')
      .action(showState);
    state
      .command('clear')
      .description('Forgets the watermark of a job and the rows that it keeps: its next run reads everything.')
      .argument('<job>', 'name of the job')
      .option(...configFlag)
      .option(...whyFlag)
      .option('--json', 'for machines')
      .action((job: string, flags: Flags) => decide(job, undefined, flags));
    state
      .command('set')
      .description(
        'Lets the next run go on from elsewhere: a value of the cursor, or a text as "state show JOB" shows it.',
      )
      .argument('<job>', 'name of the job')
      .argument('<watermark>', 'such as 2026-11-21T06:00:00Z, or the whole text')
      .option(...configFlag)
      .option(...whyFlag)
      .option('--json', 'for machines')
      .action(decide);
  },
};
export default command;
