import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { buildProgram, loadCommands } from '../../../src/cli/program.ts';
import { openCatalog } from '../../../src/config/catalog/catalog.ts';
import { configReference } from '../../../src/config/docs/reference.ts';
import { formats } from '../../../src/formats/index.ts';
import { transforms } from '../../../src/transforms/index.ts';
import { type CommandPage, commandParts, overviewParts } from './command-page.ts';
import { inline, roffOf, sectionsOf } from './markdown.ts';
import { bold, heading, manPage, paragraph, roff } from './roff.ts';

const root = join(import.meta.dirname, '../../..');

export interface ManPagesOptions {
  readonly version: string;
  /** The build date as `YYYY-MM-DD`; empty if it's unknown. */
  readonly date: string;
}

/** The manual pages for the program, for each command and for the config file, by file name. */
export async function manPages(options: ManPagesOptions): Promise<Map<string, string>> {
  const commands = await loadCommands();
  const program = buildProgram(commands);
  const documented = await readFile(join(root, 'docs/cli.md'), 'utf8');
  const pages = new Map([
    [
      'sluice.1',
      manPage(
        { ...options, name: 'sluice', section: 1, about: phrase(program.description()) },
        overviewParts(program, documented),
      ),
    ],
    ['sluice.yaml.5', await configPage(options)],
  ]);
  for (const [i, { help }] of commands.entries()) {
    const command = program.commands[i]!;
    const name = `sluice-${command.name()}`;
    const page: CommandPage = { command, help, details: detailsOf(command, documented) };
    pages.set(
      `${name}.1`,
      manPage({ ...options, name, section: 1, about: phrase(command.description()) }, commandParts(page)),
    );
  }
  return pages;
}

/** The description's first sentence as a phrase for `whatis`, such as "shows the active config". */
function phrase(description: string): string {
  const [sentence = ''] = description.split(/\.(?: |$)/);
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/** The sections of the command-line docs page whose headings name a command. */
function detailsOf(command: Command, page: string): string {
  const own = sectionsOf(page).filter(({ title }) => new RegExp(`\\b${command.name()}\\b`).test(title));
  return own.map(({ text }) => `\n${text}`).join('\n');
}

async function configPage(options: ManPagesOptions): Promise<string> {
  const catalog = await openCatalog();
  const connectors = (await Promise.all(catalog.ids.map((id) => catalog.load(id)))).filter((one) => one !== undefined);
  const sections = sectionsOf(configReference({ connectors, formats, transforms }));
  const parts = sections.map(({ title, text }) => `${heading(title)}\n${roffOf(text)}`);
  const intro = `The config of ${bold('sluice')}(1) in YAML: where data comes from, where it goes, and when. `;
  const check = inline(
    '`sluice check` reports errors in the config, and `sluice connectors describe NAME` shows a connector’s options.',
  );
  return manPage(
    { ...options, name: 'sluice.yaml', section: 5, about: 'config of sluice' },
    [
      heading('Description'),
      paragraph(intro + check),
      ...parts,
      heading('See also'),
      [`${bold('sluice')}(1)`, `${bold('sluice-check')}(1)`, `${bold('sluice-connectors')}(1)`].join(',\n'),
      roff(''),
    ].filter(Boolean),
  );
}
