import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import type { CliCommand } from '../../src/cli/command.ts';

const folder = resolve(import.meta.dirname, '../../src/cli/commands');

/** The real command line with every command registered. */
export async function wholeProgram(): Promise<Command> {
  const program = new Command('sluice');
  for (const file of readdirSync(folder)) {
    ((await import(`${folder}/${file}`)) as { default: CliCommand }).default.register(program);
  }
  return program;
}

/** The error in parsing these words as a command line, without running anything; undefined if there is none. */
export async function parseFault(words: readonly string[]): Promise<string | undefined> {
  const program = silenced(await wholeProgram()).version('0');
  const parsed = new Error('parsed');
  program.hook('preAction', () => {
    throw parsed;
  });
  try {
    await program.parseAsync(words, { from: 'user' });
    return 'nothing would be done';
  } catch (thrown) {
    if (thrown === parsed) return undefined;
    if (!(thrown instanceof CommanderError)) throw thrown;
    return thrown.exitCode === 0 ? undefined : thrown.message;
  }
}

function silenced(command: Command): Command {
  command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  for (const part of command.commands) silenced(part);
  return command;
}
