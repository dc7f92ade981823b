import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { bytesText, countOf } from '../figures.ts';

async function run(folder: string, { config: file }: { readonly config: string }): Promise<void> {
  const [{ stateFolderOf }, { backUp }] = await Promise.all([
    import('../state-folder.ts'),
    import('../../state/backup.ts'),
  ]);
  const done = await backUp(await stateFolderOf(file), folder, Date.now());
  const payloads = countOf(done.payloads, 'payload');
  process.stdout.write(`Backed up to ${done.folder}: the database and ${payloads}, ${bytesText(done.bytes)}.\n`);
}

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('backup')
      .description('Copies the state into a new folder, checked and whole, also while the daemon works on it.')
      .argument('<folder>', 'a folder that is empty or not there yet')
      .option(...configFlag)
      .addHelpText(
        'after',
        '\nThe config is not in it. The key file of the logins is, where there is one: keep backups as you keep passwords.\n\nExample:\n  sluice backup /backups/sluice-$(date +%F)',
      )
      .action(run);
  },
};
export default command;
