import { openFilesProblem, renderProblem } from '../lib/problem.ts';
import { redact } from '../lib/redact.ts';

/**
 * What nobody catches ends the process, as Node has it, since nothing is sure any more then. Node would print the error with all
 * that hangs on it: a client's options with its password, a header. Its stack and those of its causes are printed instead,
 * secrets out.
 */
export function redactLastWords(): void {
  process.on('uncaughtException', (thrown) => {
    const last = new Error('a fault that nobody caught');
    const limited = openFilesProblem(thrown);
    const stacks = stacksOf(thrown).join('\n  because of ');
    last.stack = redact(
      limited === undefined ? `${stacks}\nThis is a fault of Sluice. Please report it.` : renderProblem(limited),
    );
    throw last;
  });
}

const mostCauses = 5;

function stacksOf(thrown: unknown, depth = 0): string[] {
  if (!(thrown instanceof Error)) return [String(thrown)];
  const own = thrown.stack ?? String(thrown);
  if (thrown.cause === undefined || depth === mostCauses) return [own];
  return [own, ...stacksOf(thrown.cause, depth + 1)];
}
