import { type Command, Option } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag, withoutSecretsFlag } from '../config-file.ts';

export default {
  help: {
    notes: [
      'Secrets are hidden, but the variables that they come from are shown. To find errors in the file, run "sluice check".',
    ],
    exitCodes: [
      ['0', "no errors, and each day's requests fit the allowance or already exceeded it before"],
      ['1', "a day's requests no longer fit the allowance"],
      ['2', 'the config has errors'],
    ],
    examples: [
      ['sluice config show', 'all options that the running daemon uses'],
      ['sluice config show jobs/orders', 'one job'],
      ['sluice config show --file-on-disk', 'the config file, even if the running daemon uses another version of it'],
      ['sluice config diff before.yaml', 'what an edit changes'],
      ['sluice config diff before.yaml --without-secrets --markdown', 'in CI'],
    ],
  },
  register(program: Command): void {
    const group = program.command('config').description('Shows the active config, and compares configs.');
    group
      .command('show', { isDefault: true })
      .description(
        'Shows every option that the running daemon uses, including defaults, and where each value comes from. If no daemon is running, shows what the next start would use.',
      )
      .argument('[part]', 'show only this part: concurrency, jobs, jobs/orders …')
      .option(...configFlag)
      .option('--file-on-disk', 'show the file on disk instead of the active config')
      .option('--json', 'print JSON')
      .action(async (part, flags) => (await import('../config/show.ts')).showActiveConfig(part, flags));
    group
      .command('diff')
      .description(
        "Compares the config with an earlier version of it: options, jobs, firings per day, and each account's requests.",
      )
      .argument('<before>', 'the earlier version; /dev/null if there was none')
      .option(...configFlag)
      .option(...withoutSecretsFlag)
      .addOption(new Option('--markdown', 'print Markdown, for a review comment').conflicts('json'))
      .option('--json', 'print JSON')
      .action(async (before, flags) => (await import('../config/diff.ts')).diffConfigs(before, flags));
    for (const one of group.commands) one.exitOverride();
  },
} satisfies CliCommand;
