import { createInterface } from 'node:readline/promises';

/** Reads one line from standard input, a person's or a pipe's; empty at its end. Rejects on abort. */
export async function ask(question: string, signal: AbortSignal): Promise<string> {
  // Node doesn't report the end of an input again.
  if (process.stdin.readableEnded) return '';
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return await Promise.race([lines.question(question, { signal }), ended]);
  } finally {
    lines.close();
  }
}
