import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';

const json = ['--json', 'for machines'] as const;

const command: CliCommand = {
  register(program: Command): void {
    const group = program.command('connectors').description('Shows the connectors, and helps to write one.');
    group
      .command('list', { isDefault: true })
      .description('Every connector: what it reads, how it logs in, whether it resumes.')
      .option(...configFlag)
      .option(...json)
      .action(async (flags) => (await import('../connectors/list.ts')).listConnectors(flags));
    group
      .command('describe')
      .description('Everything that a connector declares: options, columns, limits, an example.')
      .argument('<name>', 'the connector')
      .option(...configFlag)
      .option(...json)
      .action(async (id, flags) => (await import('../connectors/describe.ts')).describeConnector(id, flags));
    group
      .command('scaffold')
      .description('Writes a connector that works, with its test, to start from.')
      .argument('<name>', 'the word for it in a config')
      .option('--into <folder>', 'where to write it', './my-connectors')
      .action(async (id, flags) => (await import('../connectors/scaffold.ts')).scaffoldConnector(id, flags));
    group
      .command('test')
      .description('Runs the standard suite over a connector, in the world beside it.')
      .argument('<file>', 'the file of the connector')
      .action(async (file) => (await import('../connectors/test.ts')).testConnector(file));
    for (const one of group.commands) one.exitOverride();
  },
};
export default command;
