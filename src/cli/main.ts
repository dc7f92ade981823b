import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { Command, CommanderError } from 'commander';
import { buildText } from '../lib/build.ts';
import { importOwn } from '../lib/import-own.ts';
import { forJournal } from '../lib/journal.ts';
import { renderProblem, toProblem } from '../lib/problem.ts';
import { redact } from '../lib/redact.ts';
import type { CliCommand } from './command.ts';
import { addConfigFlag } from './config-flag-hint.ts';
import { installCrashReport } from './crash-report.ts';
import { exit, exitCodeAfter } from './exit.ts';
import { tolerateLostOutput } from './output-streams.ts';
import { stopCode } from './signals.ts';

const commandsFolder = new URL('./commands/', import.meta.url);

/** The order of commands in the help: as a new user needs them. Others follow by name. */
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

/** Loads the requested command only, or all: loading all would slow down every short command. Completion needs all. */
async function loadCommands(asked: string | undefined): Promise<CliCommand[]> {
  const all = (await readdir(commandsFolder)).filter((file) => /^[a-z-]+\.[tj]s$/.test(file));
  const named = all.filter((file) => file.replace(/\..*$/, '') === asked);
  const files = named.length > 0 && asked !== 'completion' ? named : all;
  const rank = (file: string): number => order.indexOf(basename(file).replace(/\..*$/, '')) + 1 || 99;
  files.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  return Promise.all(
    files.map(async (file) => (await importOwn<{ default: CliCommand }>(new URL(file, commandsFolder))).default),
  );
}

async function commandNames(): Promise<Set<string>> {
  return new Set((await readdir(commandsFolder)).map((file) => basename(file).replace(/\..*$/, '')));
}

function buildProgram(commands: readonly CliCommand[]): Command {
  const program = new Command('sluice')
    .description(
      'Moves rows from databases, files and APIs to dashboard data sources, rate-limited and all-or-nothing.',
    )
    .version(buildText)
    .exitOverride()
    .showHelpAfterError('(for usage, run "sluice <command> --help")')
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      '\nGet started:\n  sluice demo                 see it work, no setup needed\n  sluice init                 create a first config\n  sluice sync --dry-run       preview what would be sent',
    );
  for (const command of commands) command.register(program);
  for (const command of program.commands) command.exitOverride().configureHelp({ showGlobalOptions: false });
  return program;
}

/** Prints the error to standard error and sets the exit code; the event loop then ends. */
function report(thrown: unknown): void {
  if (thrown instanceof CommanderError) {
    process.exitCode = thrown.exitCode === 0 ? exit.ok : exit.usage;
    return;
  }
  const stopped = stopCode();
  if (stopped !== undefined) {
    process.stderr.write('Stopped.\n');
    process.exitCode = stopped;
    return;
  }
  const problem = toProblem(thrown, { code: 'BUG', family: 'bug' });
  const say = (text: string): void => {
    process.stderr.write(`${forJournal(redact(text), { descriptor: process.stderr.fd, level: 'error' })}\n`);
  };
  say(renderProblem(problem));
  if (problem.family === 'bug') {
    const stack = problem.cause instanceof Error ? problem.cause.stack : problem.stack;
    say(`${stack ?? ''}\nThis is a bug in Sluice. Please report it with the lines above.`);
  }
  process.exitCode = exitCodeAfter(problem);
}

async function runCommand(): Promise<void> {
  try {
    const program = buildProgram(await loadCommands(process.argv[2]));
    program.hook('preAction', async (_, action) =>
      addConfigFlag(action.optsWithGlobals().config, await commandNames()),
    );
    await program.parseAsync(process.argv);
  } catch (thrown) {
    report(thrown);
  }
}

tolerateLostOutput(process.argv[2]);
installCrashReport();
/** Resolves when the command has ended. The entry point awaits it: Node reports a promise that never settles. */
export const ended: Promise<void> = runCommand();
