import type { Command } from 'commander';
import type { Range } from '../../sdk/extraction.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { countOf } from '../output/format.ts';
import { whyFlag } from '../payloads/decided-by.ts';
import type { Flags } from '../payloads/with-runtime.ts';
import { onStop } from '../signals.ts';

interface BackfillFlags extends Flags, Range {
  readonly chunk?: string;
  readonly restart?: true;
}

const deliverForMs = 300_000;

async function run(name: string, flags: BackfillFlags): Promise<void> {
  const [{ withRuntime }, { currentDecider: deciderOf }, { chooseJob }, { backfillJob }, { exitCodeOf, showSummary }] =
    await Promise.all([
      import('../payloads/with-runtime.ts'),
      import('../payloads/decided-by.ts'),
      import('../payloads/choose-job.ts'),
      import('../../daemon/run/backfill.ts'),
      import('../sync/summary.ts'),
    ]);
  const stop = onStop();
  try {
    await withRuntime(flags, async (runtime, config) => {
      const { from, to, chunk = '', restart = false, why, json = false } = flags;
      const outcome = await backfillJob({
        ...{ runtime, config, chunk, restart },
        job: chooseJob(config, name),
        range: { from, to },
        by: deciderOf(why),
        origin: 'person',
        signal: stop.signal,
        deliverUntil: runtime.clock.now() + deliverForMs,
        onChunk: ({ from, to, rows }) => process.stderr.write(`${from} to ${to}: ${countOf(rows, 'row')}\n`),
      });
      showSummary({ outcomes: [outcome], refused: [], json });
      process.exitCode = stop.code() ?? exitCodeOf([outcome], []);
    });
  } finally {
    stop.done();
  }
}

export default {
  help: {
    notes: ['The watermark does not change. If the backfill is interrupted, run the same command again to continue.'],
    examples: [
      ['sluice backfill orders --from 2026-01-01 --to 2026-02-01 --chunk 1d', 'a month, day by day'],
      [
        'sluice backfill orders --from 2026-01-31T09:00:00Z --to 2026-01-31T10:00:00Z --why "fixed at the source"',
        'an hour, with a reason for the audit log',
      ],
    ],
  },
  register(program: Command): void {
    program
      .command('backfill')
      .description(
        "Rereads a past range from a job's source, merges it into the job's kept rows, and delivers the result once.",
      )
      .argument('<job>', 'name of a job with write: append or merge')
      .requiredOption('--from <value>', 'start of the range (inclusive): a date, time or number')
      .requiredOption('--to <value>', 'end of the range (exclusive)')
      .option(
        '--chunk <span>',
        'chunk size: 6h, 1d, 1w, 1mo or a number; an interrupted backfill loses at most one chunk',
      )
      .option('--restart', 'discard the progress of an unfinished backfill')
      .option(...configFlag)
      .option(...whyFlag)
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
