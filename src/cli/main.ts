import { CommanderError } from 'commander';
import { forJournal } from '../lib/journal.ts';
import { renderProblem, toProblem } from '../lib/problem.ts';
import { redact } from '../lib/redact.ts';
import { exit, exitCodeAfter } from './exit.ts';
import { tolerateLostOutput } from './output/output-streams.ts';
import { buildProgram, commandNames, loadCommands } from './program.ts';
import { stopCode } from './signals.ts';
import { addConfigFlag } from './start/config-flag-hint.ts';
import { installCrashReport } from './start/crash-report.ts';

/** Prints the error to standard error and sets the exit code. The process exits when the event loop is empty. */
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
    program.hook('preAction', (_, action) => addConfigFlag(action.optsWithGlobals().config, commandNames()));
    await program.parseAsync(process.argv);
  } catch (thrown) {
    report(thrown);
  }
}

tolerateLostOutput(process.argv[2]);
installCrashReport();
/**
 * Resolves when the command has ended. The entry point awaits this promise, because Node reports an awaited promise
 * that never settles.
 */
export const ended: Promise<void> = runCommand();
