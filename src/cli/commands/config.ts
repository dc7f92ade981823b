import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';

const command: CliCommand = {
  help: {
    notes: [
      'Secrets are hidden; the variables that they come from are shown. To find errors in the file, run "sluice check".',
    ],
    examples: [
      ['sluice config show', 'all options of the running daemon'],
      ['sluice config show jobs/orders', 'one job'],
      ['sluice config show --file-on-disk', 'the file, even if a daemon runs with another version'],
    ],
  },
  register(program: Command): void {
    const group = program.command('config').description('Shows the active config.');
    group
      .command('show', { isDefault: true })
      .description(
        'Shows every option of the running daemon, including defaults, and where each value comes from. Without a daemon, shows what the next start would use.',
      )
      .argument('[part]', 'only this part: concurrency, jobs, jobs/orders …')
      .option(...configFlag)
      .option('--file-on-disk', 'show the file on disk instead of the active config')
      .option('--json', 'print JSON')
      .action(async (part, flags) => (await import('../config/show.ts')).showActiveConfig(part, flags));
    for (const one of group.commands) one.exitOverride();
  },
};
export default command;
