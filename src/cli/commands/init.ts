import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configArguments, defaultConfig } from '../config-file.ts';

async function run(path: string, { force }: { force?: true }): Promise<void> {
  const { initConfig } = await import('../config/init-config.ts');
  const written = await initConfig({ path, force: force === true });
  const which = configArguments(path);
  process.stdout.write(
    `Wrote ${written.config}
      ${written.sample}   sample rows
      ${written.schema}   schema for completion in editors

Next:
  sluice serve                    in another terminal; prints an API key on the first start
  export SLUICE_API_KEY=…         that key
  sluice check --connect${which}
  sluice apply --yes${which} && sluice sync${which}
`,
  );
}

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('init')
      .description('Creates a commented starter config.')
      .argument('[file]', 'path of the new file', defaultConfig)
      .option('--force', 'overwrite an existing config')
      .action(run);
  },
};
export default command;
