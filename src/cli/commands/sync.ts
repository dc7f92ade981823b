import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Level } from '../../lib/log.ts';
import { type Problem, toProblem } from '../../lib/problem.ts';
import type { CliCommand } from '../command.ts';
import { chooseJobs, configFlag, openConfig, type ShowProblems, showProblems } from '../config-file.ts';
import { exitCodeAfter } from '../exit.ts';
import { defaultWaitSeconds, reasonToStay } from '../hand-over/protocol.ts';
import { logFlag } from '../log-flag.ts';
import { onStop, stopCode } from '../signals.ts';
import { startTracing } from '../start/start-tracing.ts';
import { failureDocument } from '../sync/failure-document.ts';
import type { SyncRunOptions } from '../sync/sync-run.ts';

interface Flags {
  readonly config: string;
  readonly dryRun?: true;
  readonly diff?: true;
  readonly to?: string;
  readonly json?: true;
  readonly wait: number;
  readonly log: Level;
}

async function run(names: readonly string[], flags: Flags): Promise<void> {
  if (flags.json !== true) return sync(names, flags, { show: showProblems, onPrinted: () => undefined });
  const faults: Problem[] = [];
  let isPrinted = false;
  const show: ShowProblems = (problems, level = 'error') => {
    showProblems(problems, level);
    if (level === 'error') faults.push(...problems);
  };
  try {
    await sync(names, flags, { show, onPrinted: () => (isPrinted = true) });
  } catch (thrown) {
    if (!isPrinted) {
      const problem = toProblem(thrown, { code: 'BUG', family: 'bug' });
      process.stdout.write(failureDocument(problem, { faults, code: stopCode() ?? exitCodeAfter(problem) }));
    }
    throw thrown;
  }
}

interface Output {
  readonly show: ShowProblems;
  /** The JSON document was printed. */
  readonly onPrinted: () => void;
}

async function sync(names: readonly string[], flags: Flags, { show, onPrinted }: Output): Promise<void> {
  const loaded = await openConfig(flags.config, show);
  const { jobs, refused } = chooseJobs(loaded, names, show);
  await show([...new Set([...refused.values()].flat())]);
  const stop = onStop();
  try {
    const isAll = names.length === 0;
    const { config } = loaded;
    const work = { config, jobs, isAll, refused: [...refused.keys()], flags, signal: stop.signal, onPrinted };
    const code = flags.dryRun === true ? await preview(work) : await send(work);
    process.exitCode = stop.code() ?? code;
  } finally {
    stop.done();
  }
}

interface Work extends Pick<SyncRunOptions, 'config' | 'jobs' | 'isAll' | 'refused' | 'signal'> {
  readonly flags: Flags;
  readonly onPrinted: () => void;
}

async function preview({ config, jobs, refused, flags, signal, onPrinted }: Work): Promise<number> {
  const { showPreviews } = await import('../sync/preview.ts');
  const { json, diff, to: file } = flags;
  const code = await showPreviews({ config, jobs, refused, json: json === true, diff: diff === true, file, signal });
  onPrinted();
  return code;
}

async function send({ config, jobs, isAll, refused, flags, signal, onPrinted }: Work): Promise<number> {
  const [{ composeRuntime }, { runAndShow, progressScreen }, { openLogOn }, { LoopWatch }] = await Promise.all([
    import('../../daemon/compose.ts'),
    import('../sync/sync-run.ts'),
    import('../output/human-log.ts'),
    import('../../daemon/loop-watch/loop-watch.ts'),
  ]);
  const log = openLogOn(process.stderr, flags.log);
  const reason = reasonToStay();
  if (reason !== undefined) log.debug('sync.local', { reason });
  const runtime = await composeRuntime({ config, log, stop: signal });
  const { events } = runtime;
  const flushTraces = await startTracing({ events, log });
  const isForPeople = process.stderr.isTTY === true || flags.log === 'silent';
  const loopWatch = new LoopWatch({ folder: runtime.store.folder, events, ...(isForPeople ? {} : { log: 2 }) });
  const json = flags.json === true;
  const screen = progressScreen(process, json);
  try {
    return await runAndShow({
      ...{ runtime, config, jobs, isAll, refused, signal, json, events, stopCode },
      terminal: process,
      waitSeconds: flags.wait,
      // Log lines would break the progress display, so only changes are printed above it.
      screen: screen && flags.log !== 'silent' ? { write: (text) => screen.write(text) } : screen,
      print: (results) => {
        results();
        onPrinted();
      },
    });
  } finally {
    loopWatch.close();
    await runtime.close();
    await flushTraces();
  }
}

function seconds(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError('Must be a number of seconds, 0 or more.');
  return value;
}

export default {
  help: {
    exitCodes: [
      ['0', 'all results were delivered or unchanged'],
      ['1', 'at least one job failed'],
      ['2', 'the config or the command line has an error'],
      ['3', 'a destination rejects the credentials; unsent payloads are kept'],
      ['4', 'waiting for the daily quota; unsent payloads are kept'],
      ['130', 'interrupted (SIGINT); 143 terminated (SIGTERM)'],
    ],
    examples: [
      ['sluice sync', 'all jobs'],
      ['sluice sync orders', 'one of them'],
      ['sluice sync orders --dry-run', 'preview'],
      ['sluice sync orders --diff', 'compare the result with the data that was sent last'],
      ['sluice sync orders --to o.csv', 'write the rows to a file'],
    ],
  },
  register(program: Command): void {
    program
      .command('sync')
      .description('Runs all enabled jobs, or the given jobs, once: extracts, transforms and delivers.')
      .argument('[job...]', 'names of jobs')
      .option(...configFlag)
      .option('-n, --dry-run', 'extract and encode, and show the first rows and what would be sent, without sending it')
      .addOption(
        new Option('--diff', 'with --dry-run: also show how the rows differ from those sent last').implies({
          dryRun: true,
        }),
      )
      .addOption(
        new Option(
          '--to <file>',
          "write one job's rows to a file, in the format of the file extension, without sending them",
        )
          .implies({ dryRun: true })
          .conflicts('diff'),
      )
      .option('--json', 'print the result as JSON on standard output')
      .option(
        '--wait <seconds>',
        'how long to retry when reading, logging in or delivering fails temporarily',
        seconds,
        defaultWaitSeconds,
      )
      .option('--local', 'run the jobs in this process, even if a daemon could run them')
      .addOption(logFlag('standard error', 'silent'))
      .action(run);
  },
} satisfies CliCommand;
