import { execFile } from 'node:child_process';

/** Timeout of a command, and maximum size of its output. */
const limits = { timeout: 10_000, maxBuffer: 1024 * 1024 };

type Ran = { readonly ok: true; readonly output: string } | { readonly ok: false; readonly reason: string };

interface Surroundings {
  readonly cwd: string;
  readonly env: Environment;
  /** Stops the program. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a program and returns its standard output. No shell is involved: words are split at spaces, quotes and
 * backslashes group them, and nothing else is special. Its standard error isn't shown, because it may contain secrets.
 */
export function runCommand(line: string, { cwd, env, signal }: Surroundings): Promise<Ran> {
  const words = splitWords(line);
  if (words === undefined) return Promise.resolve({ ok: false, reason: 'The command has an unclosed quote' });
  const [program, ...args] = words;
  if (program === undefined) return Promise.resolve({ ok: false, reason: 'The command is empty' });
  return new Promise((done) => {
    const child = execFile(
      program,
      args,
      { cwd, env: { ...env }, ...limits, killSignal: 'SIGKILL', ...(signal && { signal }) },
      (error, output) => done(error === null ? { ok: true, output } : { ok: false, reason: reasonOf(program, error) }),
    );
    child.stdin?.end();
  });
}

function reasonOf(program: string, error: Error & { code?: unknown; killed?: boolean; signal?: unknown }): string {
  if (error.code === 'ENOENT') return `The command "${program}" was not found`;
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `The command "${program}" wrote more than 1 MB`;
  if (error.code === 'ABORT_ERR') return `The command "${program}" was stopped, because this process is stopping`;
  if (error.killed) return `The command "${program}" timed out after ${limits.timeout / 1000} seconds`;
  if (typeof error.code === 'number') return `The command "${program}" ended with exit code ${error.code}`;
  return `The command "${program}" failed to start (${String(error.code ?? error.signal)})`;
}

/** Splits words like a shell, without any other shell syntax. Undefined if a quote isn't closed. */
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

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;
