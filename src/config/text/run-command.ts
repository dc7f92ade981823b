import { type ProgramOptions, type ProgramResult, runProgram } from '../../lib/run-program.ts';

/**
 * Runs a command line without a shell and returns the command's standard output. Spaces separate words, quotes and
 * backslashes keep spaces inside a word, and no other characters have a special meaning.
 */
export async function runCommand(line: string, options: ProgramOptions): Promise<ProgramResult> {
  const words = splitWords(line);
  if (words === undefined) return { ok: false, reason: 'The command has an unclosed quote' };
  const [program, ...args] = words;
  if (program === undefined) return { ok: false, reason: 'The command is empty' };
  return runProgram(program, args, options);
}

/** Splits words like a shell, but without any other shell syntax. Returns undefined if a quote isn't closed. */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < line.length; i++) {
    const c = line[i]!;
    if (quote === '' && /\s/.test(c)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (c === '\\' && quote !== "'" && i + 1 < line.length) word = (word ?? '') + line[++i];
    else if (quote === '' && (c === '"' || c === "'")) {
      quote = c;
      word ??= '';
    } else if (c === quote) quote = '';
    else word = (word ?? '') + c;
  }
  if (quote !== '') return undefined;
  return word === undefined ? words : [...words, word];
}
