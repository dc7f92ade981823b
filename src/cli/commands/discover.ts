import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';

export default {
  help: {
    notes: ['The argument is the name of a source in the config, or a path or URL, which needs no config.'],
    examples: [
      ['sluice discover shop', 'a source in the config'],
      ["sluice discover shop 'order*'", 'only some of its tables'],
      ['sluice discover api --path /orders', 'the records and paging of a REST API path'],
      ['sluice discover ./exports', 'the files of a folder'],
      ['sluice discover ./orders.csv', 'how to read a file: delimiter, header, types, and the job for it'],
      ['sluice discover ./report.xlsx', 'the sheets of a workbook'],
      ['sluice discover ./shop.sqlite', 'the tables of a SQLite file'],
    ],
  },
  register(program: Command): void {
    program
      .command('discover')
      .description('Lists what a source offers: tables, files, sheets or streams, with their columns.')
      .argument('<source>', 'a source in the config, the path of a file or folder, or the URL of a database or API')
      .argument('[pattern]', 'only datasets that have this name or match this glob')
      .option('--path <path>', 'simple_rest: path to request; Sluice sends one or two requests')
      .option(...configFlag)
      .option('--json', 'print JSON')
      .action(async (source, pattern, flags) =>
        (await import('../discover/discover.ts')).discover(source, flags.path ?? pattern, flags),
      );
  },
} satisfies CliCommand;
