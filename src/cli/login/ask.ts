import { createInterface } from 'node:readline/promises';

/**
 * Reads one line from standard input, which may be a terminal or a pipe. Returns an empty string at the end of the
 * input. Rejects on abort.
 */
export async function ask(question: string, signal: AbortSignal): Promise<string> {
  // Node emits the end-of-input event only once.
  if (process.stdin.readableEnded) return '';
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return await Promise.race([lines.question(question, { signal }), ended]);
  } finally {
    lines.close();
  }
}
