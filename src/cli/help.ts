import type { Command } from 'commander';

/** A command line that users can paste, and what it does. */
export type Example = readonly [line: string, about: string];

/** Additional content for a command's `--help` output and manual page, beyond its arguments and options. */
export interface HelpDetails {
  /** Paragraphs of text. A subcommand shows the paragraphs of its parent command. */
  readonly notes?: readonly string[];
  /** Exit codes and their meanings. */
  readonly exitCodes?: readonly (readonly [code: string, meaning: string])[];
  /** Command lines to paste. A subcommand shows only the examples that contain its name. */
  readonly examples: readonly Example[];
}

/** Maximum length of a term whose description starts on the same line. */
export function addHelp(command: Command, details: HelpDetails): void {
  command.addHelpText('after', () => `\n${detailsText(command, details)}`);
  for (const part of command.commands) addHelp(part, detailsOfPart(part, details));
}

/** Returns the details that apply to one subcommand. */
export function detailsOfPart(part: Command, { examples, ...rest }: HelpDetails): HelpDetails {
  const words = `sluice ${part.parent!.name()} ${part.name()}`;
  return { ...rest, examples: examples.filter(([line]) => `${line} `.startsWith(`${words} `)) };
}

/** If a term is longer than this, its description begins on the next line. */
const maxTerm = 52;

function detailsText(command: Command, { notes = [], exitCodes = [], examples }: HelpDetails): string {
  const helper = Object.assign(command.createHelp(), {
    helpWidth: command.configureOutput().getOutHelpWidth?.() ?? 80,
  });
  const items = (title: string, rows: readonly (readonly [term: string, about: string])[]): string[] => {
    if (rows.length === 0) return [];
    const width = Math.max(3, ...rows.map(([{ length }]) => length).filter((length) => length <= maxTerm));
    const lines = rows.map(([term, about]) =>
      term.length <= width
        ? helper.formatItem(term, width, about, helper)
        : `  ${term}\n${helper.formatItem('', width, about, helper)}`,
    );
    return [[title, ...lines].join('\n')];
  };
  return [
    ...notes.map((note) => helper.boxWrap(note, helper.helpWidth)),
    ...items('Exit codes:', exitCodes),
    ...items('Examples:', examples),
  ].join('\n\n');
}
