import type { Argument, Command, Option } from 'commander';

/** A word that can come next, with its meaning. */
export interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** The names in a config by the name of the argument that accepts them, such as `job` or `source`. */
export type NamesOf = (argument: string) => readonly string[];

interface Position {
  readonly command: Command;
  /** The arguments of the command that are already on the command line. */
  readonly count: number;
  /** The option whose value must come next. */
  readonly open: Option | undefined;
}

/**
 * The words that can replace `current`, depending on the words before it. If there are none, the shell completes file
 * names.
 */
export function candidates(
  program: Command,
  { before, current, namesOf }: { before: readonly string[]; current: string; namesOf: NamesOf },
): Candidate[] {
  const position = positionAfter(program, before);
  return nextWords(position, current, namesOf).filter(({ word }) => word.startsWith(current));
}

function nextWords({ command, count, open }: Position, current: string, namesOf: NamesOf): Candidate[] {
  if (open !== undefined) return plain(open.argChoices ?? [], open.description);
  if (current.startsWith('-')) return optionsOf(command);
  const subcommands = count === 0 ? visibleCommands(command) : [];
  const argument = command.registeredArguments[count] ?? lastIfVariadic(command);
  return [...subcommands, ...(argument === undefined ? [] : valuesOf(argument, namesOf))];
}

function positionAfter(program: Command, words: readonly string[]): Position {
  let command = program;
  let count = 0;
  let open: Option | undefined;
  for (const word of words) {
    const isValue = open !== undefined;
    open = isValue ? undefined : openedBy(command, word);
    if (isValue || word.startsWith('-')) continue;
    const next = count === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (next === undefined) count++;
    else command = next;
  }
  return { command, count, open };
}

/** The option with this name, if its value must come next. */
function openedBy(command: Command, word: string): Option | undefined {
  return command.options.find((one) => (one.long === word || one.short === word) && one.required);
}

function visibleCommands(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help')
    .map((one) => ({ word: one.name(), about: one.description() }));
}

function optionsOf(command: Command): Candidate[] {
  const options = command.createHelp().visibleOptions(command);
  return options.map(({ long, short, description }) => ({ word: long ?? short ?? '', about: description }));
}

function lastIfVariadic({ registeredArguments }: Command): Argument | undefined {
  const last = registeredArguments.at(-1);
  return last?.variadic === true ? last : undefined;
}

/** An argument such as `job|instance` accepts both job names and instance names. */
function valuesOf(argument: Argument, namesOf: NamesOf): Candidate[] {
  const names = argument
    .name()
    .split('|')
    .flatMap((name) => namesOf(name.replace(/s$/, '')).map((word) => ({ word, about: name.replace(/s$/, '') })));
  return [...plain(argument.argChoices ?? [], argument.description), ...names];
}

function plain(words: readonly string[], about: string): Candidate[] {
  return words.map((word) => ({ word, about }));
}
