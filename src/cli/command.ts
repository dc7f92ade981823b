import type { Command } from 'commander';
import type { HelpDetails } from './help.ts';

/**
 * Each file in commands/ is one command, and the folder is the registry. A command's file declares its arguments and
 * flags. It imports the implementation only when the command runs, so that `--help` stays fast.
 */
export interface CliCommand {
  readonly help: HelpDetails;
  /** Adds the command to the program. */
  register(program: Command): void;
}
