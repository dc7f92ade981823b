import type { Command } from 'commander';
import { defaultConfig } from '../../config/default-paths.ts';
import type { CliCommand } from '../command.ts';
import { configArguments } from '../config-file.ts';

interface Flags {
  readonly force?: true;
  readonly url?: string;
  readonly table: readonly string[];
  readonly yes?: true;
  readonly destination?: string;
}

async function run(path: string, { force, url, table: tables, yes, destination }: Flags): Promise<void> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const ask = isTerminal && yes !== true ? (await import('../login/ask.ts')).ask : undefined;
  const address = url ?? (await ask?.(question, new AbortController().signal)) ?? '';
  if (address.trim() === '') return writeStarter(path, force === true);
  const { initFromSource } = await import('../init/init-from-source.ts');
  const given = { path, force: force === true, address: address.trim(), tables, yes: yes === true, destination, ask };
  return initFromSource(given);
}

const question =
  'Where is your data? The URL of a database (postgres://user@host/database) or of an API (https://host/orders), or the\npath of a SQLite, csv or xlsx file; leave empty for a starter config with a sample: ';

async function writeStarter(path: string, force: boolean): Promise<void> {
  const { initConfig } = await import('../config/init-config.ts');
  const written = await initConfig({ path, force });
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

function collect(value: string, former: readonly string[]): string[] {
  return [...former, value];
}

export default {
  help: {
    notes: [
      "Lists what the source offers, writes jobs for what you choose, checks the config, and shows the first rows. Sends no data to the dashboard unless you confirm. A password in the URL becomes a variable and isn't written to the config.",
    ],
    examples: [
      ['sluice init', 'asks on a terminal'],
      ['sluice init --url ./orders.csv --yes', 'a job for a file'],
      ['sluice init --url ./shop.sqlite --table orders --yes', 'a job for one table'],
      ['sluice init shop.yaml --url ./shop.sqlite --yes', 'another config file'],
    ],
  },
  register(program: Command): void {
    program
      .command('init')
      .description('Creates a config, either with jobs for your source or as a commented starter.')
      .argument('[file]', 'path of the new file', defaultConfig)
      .option('--force', 'overwrite an existing config')
      .option(
        '--url <address>',
        'URL of a database or of an API path, or path of a SQLite, csv or xlsx file, to write jobs for',
      )
      .option('--table <name>', 'write a job for this table, file or sheet; can be repeated', collect, [])
      .option('--destination <url>', 'URL of the dashboard service; default: the embedded service (sluice serve)')
      .option('--yes', "don't ask; use the tables given with --table, or all tables")
      .action(run);
  },
} satisfies CliCommand;
