import { openFilesProblem, renderProblem } from '../lib/problem.ts';
import { redact } from '../lib/redact.ts';

/**
 * Ends the process after an uncaught exception, because its state is undefined. Node would print the error with all its
 * properties, for example a client's options with the password. This handler prints only the redacted stack traces of
 * the error and its causes.
 */
export function installCrashReport(): void {
  process.on('uncaughtException', (thrown) => {
    const last = new Error('uncaught error');
    const limited = openFilesProblem(thrown);
    const stacks = stacksOf(thrown).join('\n  because of ');
    last.stack = redact(
      limited === undefined ? `${stacks}\nThis is a bug in Sluice. Please report it.` : renderProblem(limited),
    );
    throw last;
  });
}

const maxCauses = 5;

function stacksOf(thrown: unknown, depth = 0): string[] {
  if (!(thrown instanceof Error)) return [String(thrown)];
  const own = thrown.stack ?? String(thrown);
  if (thrown.cause === undefined || depth === maxCauses) return [own];
  return [own, ...stacksOf(thrown.cause, depth + 1)];
}
