import { openFilesProblem, renderProblem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';

/**
 * Ends the process after an uncaught exception, because the state of the process is then undefined. Node would print
 * the error with all of its properties, such as a client's options that include a password. This handler prints only
 * the stack traces of the error and its causes, with secrets redacted.
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
