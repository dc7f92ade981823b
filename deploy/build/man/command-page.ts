import type { Command } from 'commander';
import type { Example, HelpDetails } from '../../../src/cli/help.ts';
import { roffOf, sectionsOf } from './markdown.ts';
import { bold, example, heading, italic, item, paragraph, roff, subheading } from './roff.ts';

export interface CommandPage {
  readonly command: Command;
  readonly help: HelpDetails;
  /** More about it, in Markdown. */
  readonly details: string;
}

/** The sections after the NAME section of a command's manual page. */
export function commandParts({ command, help, details }: CommandPage): string[] {
  const { notes = [], exitCodes = [], examples } = help;
  return [
    ...synopsis([command, ...command.commands]),
    heading('Description'),
    ...[command.description(), ...notes].map((text) => paragraph(roff(text))),
    ...argumentsOf(command, heading),
    ...section('Commands', command.commands.flatMap(subcommand)),
    ...(details === '' ? [] : [heading('Details'), roffOf(details)]),
    ...exitStatus(exitCodes),
    ...examplesOf(examples),
    heading('See also'),
    `${bold('sluice')}(1),\n${bold('sluice.yaml')}(5)`,
  ];
}

/** The sections after the NAME section of the program's manual page. */
export function overviewParts(program: Command, cli: string): string[] {
  const commands = program.commands.map((command) =>
    item(`${bold(`sluice-${command.name()}`)}(1)`, roff(command.description())),
  );
  return [
    ...synopsis([program]),
    heading('Description'),
    paragraph(roff(program.description())),
    paragraph(`The config is described in ${bold('sluice.yaml')}(5).`),
    heading('Options'),
    ...optionsOf(program),
    heading('Commands'),
    ...commands,
    heading('Exit status'),
    roffOf(sectionsOf(cli).find(({ title }) => title === 'Exit codes')!.text),
    heading('Environment'),
    item(bold('SLUICE_CONFIG'), roff('Path of the config, if a command has no --config.')),
    item(bold('SLUICE_KEY'), roff('Key that encrypts logins at rest, if the config has no login_key.')),
    item(bold('NO_COLOR'), roff('If set to 1, output has no colors.')),
    heading('Files'),
    item(italic('sluice.yaml'), roff('The default config, in the current folder.')),
    item(italic('sluice-state/'), roff('The default state folder, next to the config.')),
    heading('See also'),
    `${bold('sluice.yaml')}(5),\n${bold('sluice-sync')}(1),\n${bold('sluice-run')}(1)`,
  ];
}

type Heading = (title: string) => string;

function synopsis(commands: readonly Command[]): string[] {
  const lines = commands.map((command) => {
    const { words, usage } = usageOf(command);
    return [
      bold(words),
      ...usage.map((word) =>
        /^\[(options|command)\]$/.test(word) ? `[${italic(word.slice(1, -1))}]` : argument(word),
      ),
    ].join(' ');
  });
  return [heading('Synopsis'), lines.join('\n.br\n')];
}

/** Formats `<job>` and `[job...]` with the name in italics. */
const argument = (word: string): string =>
  word.replace(
    /^([<[]?)(.*?)(\.\.\.)?([>\]]?)$/,
    (_, open: string, name: string, more = '', close: string) =>
      `${open === '[' ? '[' : ''}${italic(name)}${roff(more)}${close === ']' ? ']' : ''}`,
  );

function usageOf(command: Command): { words: string; usage: string[] } {
  const parents: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) parents.unshift(one.name());
  return { words: parents.join(' '), usage: command.usage().split(' ').filter(Boolean) };
}

function section(title: string, parts: readonly string[]): string[] {
  return parts.length === 0 ? [] : [heading(title), ...parts];
}

function subcommand(command: Command): string[] {
  const { words } = usageOf(command);
  return [subheading(words), paragraph(roff(command.description())), ...argumentItems(command), ...optionsOf(command)];
}

function argumentsOf(command: Command, title: Heading): string[] {
  const items = argumentItems(command);
  return [...(items.length === 0 ? [] : [title('Arguments'), ...items]), title('Options'), ...optionsOf(command)];
}

function argumentItems(command: Command): string[] {
  const helper = command.createHelp();
  return helper
    .visibleArguments(command)
    .map((one) => item(italic(helper.argumentTerm(one)), roff(sentence(helper.argumentDescription(one)))));
}

function optionsOf(command: Command): string[] {
  const helper = command.createHelp();
  return helper.visibleOptions(command).map((option) => {
    const [flags = '', value] = option.flags.split(/(?= <)/);
    const term =
      flags.split(', ').map(bold).join(', ') +
      (value === undefined ? '' : ` ${italic(value.replaceAll(/[ <>]/g, ''))}`);
    return item(term, roff(sentence(helper.optionDescription(option))));
  });
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.)]$/.test(text) ? '' : '.'}`;

function exitStatus(codes: NonNullable<HelpDetails['exitCodes']>): string[] {
  const others = paragraph(`${codes.length === 0 ? 'See' : 'For others, see'} ${bold('sluice')}(1).`);
  return [heading('Exit status'), ...codes.map(([code, meaning]) => item(bold(code), roff(sentence(meaning)))), others];
}

function examplesOf(examples: readonly Example[]): string[] {
  return [
    heading('Examples'),
    ...examples.flatMap(([line, about]) => [paragraph(roff(`${sentence(about).replace(/\.$/, '')}:`)), example(line)]),
  ];
}
