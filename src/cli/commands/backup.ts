import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { bytesText, countOf } from '../output/format.ts';

async function run(folder: string, { config: file }: { readonly config: string }): Promise<void> {
  const [{ stateLocationOf }, { backUp }] = await Promise.all([
    import('../state-location.ts'),
    import('../../state/backup/backup.ts'),
  ]);
  const done = await backUp(await stateLocationOf(file), folder, Date.now());
  const payloads = countOf(done.payloads, 'payload');
  process.stdout.write(`Backed up to ${done.folder}: the database and ${payloads}, ${bytesText(done.bytes)}.\n`);
}

export default {
  help: {
    notes: [
      'The backup does not include the config, but it includes the login key file if there is one, so protect backups like passwords.',
    ],
    examples: [
      ['sluice backup /backups/before-upgrade', 'to a named folder'],
      ['sluice backup /backups/sluice-$(date +%F)', 'to a folder for each day'],
    ],
  },
  register(program: Command): void {
    program
      .command('backup')
      .description('Backs up the state to a new folder and verifies the copy. The daemon can keep running.')
      .argument('<folder>', 'an empty or new folder')
      .option(...configFlag)
      .action(run);
  },
} satisfies CliCommand;
