import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { Command } from 'commander';
import { buildText } from '../lib/build.ts';
import { importOwn } from '../lib/import-own.ts';
import type { CliCommand } from './command.ts';
import { addHelp } from './help.ts';

const commandsFolder = new URL('./commands/', import.meta.url);

/**
 * Commands that the help lists first, in the order in which a new user needs them. The help lists all other commands
 * after these, sorted by name.
 */
const order = [
  'demo',
  'init',
  'discover',
  'check',
  'config',
  'login',
  'logins',
  'sync',
  'run',
  'status',
  'explain',
  'history',
  'alerts',
  'state',
  'backfill',
  'quarantine',
  'dead',
  'rollback',
  'resume',
  'sources',
  'audit',
  'health',
  'backup',
  'restore',
  'apply',
  'serve',
];

/** The first commands that a new user should run. */
const examples = [
  ['sluice demo', 'see it work without any setup'],
  ['sluice init', 'create a first config'],
  ['sluice sync --dry-run', 'preview what would be sent'],
] as const;

/**
 * Loads only the requested command, or all commands for completion. Loading all of them for every call would slow down
 * short commands.
 */
export async function loadCommands(asked?: string): Promise<CliCommand[]> {
  const all = readdirSync(commandsFolder).filter((file) => /^[a-z-]+\.[tj]s$/.test(file));
  const named = all.filter((file) => file.replace(/\..*$/, '') === asked);
  const files = named.length > 0 && asked !== 'completion' ? named : all;
  const rank = (file: string): number => order.indexOf(basename(file).replace(/\..*$/, '')) + 1 || 99;
  files.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  return Promise.all(
    files.map(async (file) => (await importOwn<{ default: CliCommand }>(new URL(file, commandsFolder))).default),
  );
}

/** The names of all commands. */
export function commandNames(): Set<string> {
  return new Set(readdirSync(commandsFolder).map((file) => basename(file).replace(/\..*$/, '')));
}

/** Builds the CLI program from these commands. */
export function buildProgram(commands: readonly CliCommand[]): Command {
  const program = new Command('sluice')
    .description(
      'Moves rows from databases, files and APIs to dashboard data sources, rate-limited and all-or-nothing.',
    )
    .version(buildText)
    .exitOverride()
    .showHelpAfterError('(for usage, run "sluice <command> --help")')
    .showSuggestionAfterError();
  addHelp(program, { examples });
  for (const command of commands) {
    command.register(program);
    addHelp(program.commands.at(-1)!, command.help);
  }
  for (const command of program.commands) command.exitOverride().configureHelp({ showGlobalOptions: false });
  return program;
}
