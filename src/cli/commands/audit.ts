import type { Command } from 'commander';
import type { AuditRow } from '../../state/tables.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { instantText } from '../output/format.ts';
import { printable, renderTable } from '../output/table.ts';
import type { Flags } from '../payloads/with-runtime.ts';

/** Maximum number of rows to show, which is more than anyone reads. To see all rows, query by job. */
const limit = 1000;

async function run(job: string | undefined, flags: Flags): Promise<void> {
  const { show, withStore } = await import('../payloads/with-runtime.ts');
  await withStore(flags, async (store) => {
    const rows = (await store?.audit.history({ limit, job })) ?? [];
    show(flags, { text: textOf(rows), data: rows.map(forMachines) });
  });
}

function textOf(rows: readonly AuditRow[]): string {
  if (rows.length === 0) return 'No decisions recorded.';
  const columns = ['when', 'who', 'what', 'job', 'run', 'why'].map((title) => ({ title }));
  const cells = rows.map(({ at, who, action, job, run, why }) => [instantText(at), who, action, job, run ?? '–', why]);
  const table = renderTable(columns, cells, { widest: 70, paper: process.stdout });
  const changes = rows.filter(({ former, latter }) => former !== latter).map(changeText);
  return [table, ...(changes.length === 0 ? [] : ['', 'Changed watermarks:', ...changes])].join('\n');
}

/** Prints the whole watermark below the table, because it's too long for a cell and needed in full to restore it. */
const changeText = ({ at, job, former, latter }: AuditRow): string =>
  printable(`  ${instantText(at)} ${job}: from ${former ?? 'nothing'} to ${latter ?? 'nothing'}`);

function forMachines({ at, who, why, action, job, run, former, latter }: AuditRow): object {
  return { at: new Date(at).toISOString(), who, action, job, run, why, former, latter };
}

export default {
  help: {
    examples: [
      ['sluice audit', 'all decisions'],
      ['sluice audit orders --json', 'the decisions about one job, for scripts'],
    ],
  },
  register(program: Command): void {
    program
      .command('audit')
      .description('Lists manual decisions about payloads and jobs (who, when, why), newest first.')
      .argument('[job]', 'only this job')
      .option(...configFlag)
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
