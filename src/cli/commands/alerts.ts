import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';

interface Flags {
  readonly config: string;
  readonly json?: true;
}

const command: CliCommand = {
  register(program: Command): void {
    const alerts = program
      .command('alerts')
      .description('Shows what people were told of, how the channels are doing, and sends tests.');
    alerts
      .command('list', { isDefault: true })
      .description('Lists what is wrong now, the newest messages, and how each channel is doing.')
      .option(...configFlag)
      .option('--json', 'for machines')
      .action(async (flags: Flags) => {
        const { listAlerts } = await import('../alerts/list.ts');
        await listAlerts(flags);
      });
    alerts
      .command('test')
      .description('Sends a test message now and says what was answered.')
      .argument('[channel]', 'only to this one')
      .option(...configFlag)
      .option('--json', 'for machines')
      .addHelpText('after', '\nExits with 0 when every channel took it, 1 when one did not.')
      .action(async (channel: string | undefined, flags: Flags) => {
        const { testChannels } = await import('../alerts/test.ts');
        await testChannels(channel, flags);
      });
  },
};
export default command;
