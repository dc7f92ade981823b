import type { Command } from 'commander';
import { Problem } from '../../lib/problem.ts';
import type { RestoreResult } from '../../state/backup/restore.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { countOf, instantText } from '../output/format.ts';

interface Flags {
  readonly config: string;
  readonly replace?: true;
  readonly moved?: true;
  readonly distrust?: true;
}

async function run(from: string | undefined, flags: Flags): Promise<void> {
  if ((from === undefined) !== (flags.distrust === true)) throw notOne();
  const { stateLocationOf, stateText } = await import('../state-location.ts');
  const location = await stateLocationOf(flags.config);
  const lines = from === undefined ? await distrusted() : await restored(from);
  process.stdout.write(`${lines.join('\n')}\n`);

  async function distrusted(): Promise<string[]> {
    const { distrustState } = await import('../../state/backup/distrust.ts');
    const parked = await distrustState(location);
    return [`Nothing in ${stateText(location)} is trusted that may have changed since.`, ...linesAbout(parked)];
  }

  async function restored(folder: string): Promise<string[]> {
    const { restore } = await import('../../state/backup/restore.ts');
    const moved = flags.moved === true;
    const done = await restore({ from: folder, to: location, replace: flags.replace === true, moved });
    const first = `Restored ${stateText(location)} as it was at ${instantText(Date.parse(done.madeAt))}.`;
    return [first, ...linesOf(done), ...(moved ? [] : linesAbout(done.parked))];
  }
}

function linesOf({ former, keyFile }: RestoreResult): string[] {
  const lines: string[] = [];
  if (former.length > 0)
    lines.push(`The previous state is in ${former.join(' and ')}; delete it once everything works.`);
  if (keyFile !== undefined)
    lines.push(`The logins were encrypted with the key in ${keyFile}: set login_key or former_login_keys to it.`);
  return lines;
}

/** What an operator should know after a return to an earlier time. */
function linesAbout(parked: number): string[] {
  const lines = [
    'Every job sends its data again at its next firing, or now with "sluice sync".',
    "Today's request count does not include requests made since then.",
  ];
  if (parked === 0) return lines;
  const payloads = countOf(parked, 'payload that was', 'payloads that were');
  return [`${payloads} waiting at that time will not be sent, because newer data may have been sent since.`, ...lines];
}

function notOne(): Problem {
  return new Problem({
    code: 'CLI_OPTION',
    family: 'config',
    message: 'Specify either a backup folder or --distrust',
    next: 'sluice restore FOLDER; or sluice restore --distrust if the state was returned to an earlier time by other means',
  });
}

export default {
  help: {
    notes: [
      'A backup can be restored to a folder and to a PostgreSQL database, no matter which of the two it was made from.',
    ],
    examples: [
      ['sluice restore /backups/before-upgrade', 'where no state exists'],
      ['sluice restore /backups/before-upgrade --replace', 'move the existing state aside'],
      ['sluice restore /backups/move --moved', 'after a move, with nothing run since the backup'],
      ['sluice restore --distrust', 'after a point-in-time recovery of the database'],
    ],
  },
  register(program: Command): void {
    program
      .command('restore')
      .description('Restores the state from a backup. Stop the daemon first.')
      .argument('[folder]', 'the backup folder')
      .option(...configFlag)
      .option('--replace', 'move an existing state aside')
      .option(
        '--moved',
        'confirms that nothing has run since the backup; payloads that were waiting then will still be sent',
      )
      .option(
        '--distrust',
        'instead of restoring a folder, treat the state as a restored one, because it was returned to an earlier time',
      )
      .action(run);
  },
} satisfies CliCommand;
