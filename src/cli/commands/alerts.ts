import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';

interface Flags {
  readonly config: string;
  readonly json?: true;
}

export default {
  help: {
    exitCodes: [
      ['0', 'every channel accepted the test message, or no test message was sent'],
      ['1', 'at least one channel did not accept the test message'],
    ],
    examples: [
      ['sluice alerts list', 'open alerts, latest messages and channel states'],
      ['sluice alerts test', 'send a test message to every channel'],
      ['sluice alerts test ops', 'to one channel'],
    ],
  },
  register(program: Command): void {
    const alerts = program
      .command('alerts')
      .description('Shows open alerts, recent messages and channel health, and sends test messages.');
    alerts
      .command('list', { isDefault: true })
      .description('Lists open alerts, the latest messages and the state of each channel.')
      .option(...configFlag)
      .option('--json', 'print JSON')
      .action(async (flags: Flags) => {
        const { listAlerts } = await import('../alerts/list.ts');
        await listAlerts(flags);
      });
    alerts
      .command('test')
      .description('Sends a test message and shows the response.')
      .argument('[channel]', 'only this channel')
      .option(...configFlag)
      .option('--json', 'print JSON')
      .action(async (channel: string | undefined, flags: Flags) => {
        const { testChannels } = await import('../alerts/test.ts');
        await testChannels(channel, flags);
      });
  },
} satisfies CliCommand;
