import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configWords, defaultConfig } from '../config-file.ts';

async function run(path: string, { force }: { force?: true }): Promise<void> {
  const { initConfig } = await import('../../config/init.ts');
  const written = await initConfig({ path, force: force === true });
  const which = configWords(path);
  process.stdout.write(
    `Wrote ${written.config}
      ${written.sample}   a few rows to begin with
      ${written.schema}   lets editors complete the config

Next:
  sluice serve                    in another terminal; it prints an API key the first time
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
      .description('Writes a commented config to start from.')
      .argument('[file]', 'where to write it', defaultConfig)
      .option('--force', 'replace a config that is there')
      .action(run);
  },
};
export default command;
