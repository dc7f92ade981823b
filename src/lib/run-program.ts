import { execFile } from 'node:child_process';

/** Timeout of a program, and maximum size of its output. */
const limits = { timeout: 10_000, maxBuffer: 1024 * 1024 };

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A program's standard output, or why it failed. */
export type ProgramResult =
  | { readonly ok: true; readonly output: string }
  | { readonly ok: false; readonly reason: string; readonly isMissing?: boolean };

export interface ProgramOptions {
  readonly cwd: string;
  readonly env: Environment;
  /** Stops the program. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a program without a shell and returns its standard output. Its standard error isn't shown, because it may
 * contain secrets.
 */
export function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env, signal }: ProgramOptions,
): Promise<ProgramResult> {
  return new Promise((done) => {
    const child = execFile(
      program,
      args,
      { cwd, env: { ...env }, ...limits, killSignal: 'SIGKILL', ...(signal && { signal }) },
      (error, output) => done(error === null ? { ok: true, output } : failureOf(program, error)),
    );
    child.stdin?.end();
  });
}

function failureOf(program: string, error: Error & { code?: unknown; killed?: boolean; signal?: unknown }) {
  const isMissing = error.code === 'ENOENT';
  return { ok: false, reason: reasonOf(program, error), ...(isMissing ? { isMissing } : {}) } as const;
}

function reasonOf(program: string, error: Error & { code?: unknown; killed?: boolean; signal?: unknown }): string {
  if (error.code === 'ENOENT') return `The command "${program}" was not found`;
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `The command "${program}" wrote more than 1 MB`;
  if (error.code === 'ABORT_ERR') return `The command "${program}" was stopped because this process is stopping`;
  if (error.killed) return `The command "${program}" timed out after ${limits.timeout / 1000} seconds`;
  if (typeof error.code === 'number') return `The command "${program}" exited with code ${error.code}`;
  return `The command "${program}" failed to start (${String(error.code ?? error.signal)})`;
}
