import type { Command } from 'commander';

/**
 * One file in commands/ is one command; the folder is the registry. A command file declares its words and flags and
 * imports what does the work only when it is run, so that `--help` stays instant.
 */
export interface CliCommand {
  /** Adds the command to the program. */
  register(program: Command): void;
}
