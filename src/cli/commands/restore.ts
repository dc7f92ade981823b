import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { countOf, instantText } from '../figures.ts';

interface Flags {
  readonly config: string;
  readonly replace?: true;
  readonly moved?: true;
}

async function run(from: string, { config: file, replace, moved }: Flags): Promise<void> {
  const [{ stateFolderOf }, { restore }] = await Promise.all([
    import('../state-folder.ts'),
    import('../../state/restore.ts'),
  ]);
  const state = await stateFolderOf(file);
  const done = await restore({ from, state, replace: replace === true, moved: moved === true });
  const lines = [`Restored ${state} as it was at ${instantText(Date.parse(done.madeAt))}.`];
  if (done.former !== undefined) lines.push(`The former state is in ${done.former}; delete it when all is well.`);
  if (moved !== true) {
    const parked = countOf(done.parked, 'payload that was', 'payloads that were');
    if (done.parked > 0) lines.push(`${parked} owed then will not be sent: newer data may have gone out since.`);
    lines.push(
      'Every job sends afresh at its next firing, or now with "sluice sync".',
      'Requests made since the backup are not in its count of the day.',
    );
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('restore')
      .description('Puts a backup in the place of the state folder; the daemon has to be stopped.')
      .argument('<folder>', 'the folder of the backup')
      .option(...configFlag)
      .option('--replace', 'where there is a state: put it aside')
      .option('--moved', 'nothing has run since the backup: what was owed then is still owed')
      .action(run);
  },
};
export default command;
