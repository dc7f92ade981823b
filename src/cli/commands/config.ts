import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';

const command: CliCommand = {
  register(program: Command): void {
    const group = program.command('config').description('Shows the config that is in force.');
    group
      .command('show', { isDefault: true })
      .description(
        'Every option that the running daemon goes by, defaults filled in, and where each value comes from; without a daemon, what the next start would take.',
      )
      .argument('[part]', 'only this: concurrency, jobs, jobs/orders …')
      .option(...configFlag)
      .option('--file-on-disk', 'what the file says now, whatever the daemon goes by')
      .option('--json', 'for machines')
      .addHelpText(
        'after',
        '\nSecrets are hidden; beside them stands the variable that they come from. "sluice check" finds the faults of the file.',
      )
      .action(async (part, flags) => (await import('../config/show.ts')).showConfigInForce(part, flags));
    for (const one of group.commands) one.exitOverride();
  },
};
export default command;
