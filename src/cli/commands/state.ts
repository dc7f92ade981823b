import type { Command } from 'commander';
import { Problem } from '../../lib/problem.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { instantText } from '../figures.ts';
import { forMachines } from '../for-machines.ts';
import { whyFlag } from '../payloads/who.ts';
import type { Flags } from '../payloads/with-runtime.ts';
import { renderTable } from '../table.ts';

async function showState(job: string | undefined, flags: Flags): Promise<void> {
  const { withStore, show } = await import('../payloads/with-runtime.ts');
  await withStore(flags, async (store) => {
    const rows = (await store?.watermarks.all(job)) ?? [];
    const data = rows.map(({ job, text, run, set_at }) => ({ job, watermark: text, run, set_at }));
    if (flags.json === true) return show({}, { text: forMachines(data), data });
    const columns = ['job', 'watermark', 'set by run', 'at'].map((title) => ({ title }));
    const table = renderTable(
      columns,
      rows.map(({ job, text, run, set_at }) => [job, text, run, instantText(set_at)]),
      { widest: 80, paper: process.stdout },
    );
    const none = 'No job keeps a watermark: every run reads everything.';
    show(flags, { text: rows.length === 0 ? none : table, data });
  });
}

async function decide(job: string, text: string | undefined, flags: Flags): Promise<void> {
  const [{ withStore, show }, { deciderOf }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/who.ts'),
  ]);
  await withStore(flags, async (store) => {
    const result = (await store?.watermarks.decide(job, text, deciderOf(flags.why))) ?? 'unknown';
    if (result === 'busy') throw busy(job);
    if (result === 'unknown') throw unknown(job);
    const said =
      text === undefined
        ? `Forgotten. The next run of ${job} reads everything.`
        : `The next run of ${job} goes on from there. A text that its connector cannot read is told by that run.`;
    show(flags, { text: said, data: { job, watermark: text ?? null } });
  });
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
        'Shows how far jobs have read their sources, and lets a person change it; every change is kept with a name.',
      )
      .addHelpText(
        'after',
        '\nExamples:\n  sluice state show\n  sluice state clear orders --why "the table was loaded anew"',
      );
    state
      .command('show')
      .description('Lists the watermarks.')
      .argument('[job]', 'only of this job')
      .option(...configFlag)
      .option('--json', 'for machines')
      .action(showState);
    state
      .command('clear')
      .description('Forgets the watermark of a job: its next run reads everything.')
      .argument('<job>', 'name of the job')
      .option(...configFlag)
      .option(...whyFlag)
      .option('--json', 'for machines')
      .action((job: string, flags: Flags) => decide(job, undefined, flags));
    state
      .command('set')
      .description('Lets the next run go on from elsewhere; takes a text as "state show" shows it.')
      .argument('<job>', 'name of the job')
      .argument('<watermark>', "the connector's own text")
      .option(...configFlag)
      .option(...whyFlag)
      .option('--json', 'for machines')
      .action(decide);
  },
};
export default command;
