import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { countOf, instantText } from '../format.ts';

interface Flags {
  readonly config: string;
  readonly replace?: true;
  readonly moved?: true;
}

async function run(from: string, { config: file, replace, moved }: Flags): Promise<void> {
  const [{ stateFolderOf }, { restore }] = await Promise.all([
    import('../state-location.ts'),
    import('../../state/backup/restore.ts'),
  ]);
  const state = await stateFolderOf(file);
  const done = await restore({ from, state, replace: replace === true, moved: moved === true });
  const lines = [`Restored ${state} as it was at ${instantText(Date.parse(done.madeAt))}.`];
  if (done.former !== undefined)
    lines.push(`The previous state is in ${done.former}; delete it once everything works.`);
  if (moved !== true) {
    const parked = countOf(done.parked, 'payload that was', 'payloads that were');
    if (done.parked > 0)
      lines.push(
        `${parked} waiting at the time of the backup will not be sent, because newer data may have been sent since.`,
      );
    lines.push(
      'Every job sends its data again at its next firing, or now with "sluice sync".',
      "Today's request count does not include requests made since the backup.",
    );
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

export default {
  help: {
    examples: [
      ['sluice restore /backups/before-upgrade', 'to an empty state folder'],
      ['sluice restore /backups/before-upgrade --replace', 'move the existing state aside'],
    ],
  },
  register(program: Command): void {
    program
      .command('restore')
      .description('Restores the state folder from a backup. Stop the daemon first.')
      .argument('<folder>', 'the backup folder')
      .option(...configFlag)
      .option('--replace', 'move an existing state aside')
      .option(
        '--moved',
        'confirms that nothing has run since the backup; payloads that were waiting then will still be sent',
      )
      .action(run);
  },
} satisfies CliCommand;
