import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';

const json = ['--json', 'for machines'] as const;

export default {
  help: {
    examples: [
      ['sluice connectors list', 'all connectors'],
      ['sluice connectors describe db', 'the options of one'],
      ['sluice connectors scaffold acme', 'create your own in ./my-connectors'],
      ['sluice connectors test my-connectors/acme.mts', 'test it'],
    ],
  },
  register(program: Command): void {
    const group = program.command('connectors').description('Lists connectors, and helps you write and test your own.');
    group
      .command('list', { isDefault: true })
      .description('Lists all connectors: what each one reads, how it logs in and whether it resumes.')
      .option(...configFlag)
      .option(...json)
      .action(async (flags) => (await import('../connectors/list.ts')).listConnectors(flags));
    group
      .command('describe')
      .description("Shows a connector's options, columns, limits and an example.")
      .argument('<name>', 'name of the connector')
      .option(...configFlag)
      .option(...json)
      .action(async (id, flags) => (await import('../connectors/describe.ts')).describeConnector(id, flags));
    group
      .command('scaffold')
      .description('Creates a working connector with a test as a starting point.')
      .argument('<name>', 'name of the connector in the config')
      .option('--into <folder>', 'target folder', './my-connectors')
      .action(async (id, flags) => (await import('../connectors/scaffold.ts')).scaffoldConnector(id, flags));
    group
      .command('test')
      .description('Runs the standard test suite on a connector, using the test world in the same folder.')
      .argument('<file>', 'path of the connector file')
      .action(async (file) => (await import('../connectors/test.ts')).testConnector(file));
    for (const one of group.commands) one.exitOverride();
  },
} satisfies CliCommand;
