import { advised } from './advice.ts';
import { missingModule } from './missing-module.ts';
import { present } from './present.ts';

const deepestCause = 5;

/**
 * The system's error for too many open files in this process (EMFILE) or on the machine (ENFILE); undefined for any
 * other error.
 */
function openFilesError(thrown: unknown, depth = 0): NodeJS.ErrnoException | undefined {
  if (!(thrown instanceof Error) || depth > deepestCause) return undefined;
  const { code } = thrown as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE' ? thrown : openFilesError(thrown.cause, depth + 1);
}

/**
 * A problem's family, which (unlike its message) decides what the runner does next.
 *
 * - `config`: the config or the command line must be fixed; this job doesn't start, but others do.
 * - `login`: the credentials were refused or have expired; if {@link Problem.isLoginRefused} is set, they're put on
 *   hold.
 * - `try_later`: a transient error: the other side is busy or unreachable; wait and retry.
 * - `row`: one row can't be processed; the run fails unless the job tolerates it.
 * - `quota`: the daily allowance is used up; owed payloads wait in the outbox for the next day.
 * - `job`: this run fails; the next firing starts over.
 * - `bug`: a bug in Sluice; the stack is shown.
 */
export type Family = 'config' | 'login' | 'try_later' | 'row' | 'quota' | 'job' | 'bug';

/** Where a problem occurred. All fields are optional; callers add what they know with {@link Problem.at}. */
export interface ProblemLocation {
  readonly file?: string;
  /** 1-based line in `file`. */
  readonly line?: number;
  /** 1-based column (character) in `file`. */
  readonly character?: number;
  readonly job?: string;
  readonly source?: string;
  readonly destination?: string;
  /** The run's stage, such as extract, transform, encode, spool or deliver. */
  readonly stage?: string;
  /** 1-based row number within the run. */
  readonly row?: number;
  readonly column?: string;
}

export interface ProblemOptions {
  /** `AREA_WHAT` in upper case. Stable, because people search for it and scripts branch on it. */
  readonly code: string;
  readonly family: Family;
  /** What happened, in one plain sentence without a full stop. */
  readonly message: string;
  readonly where?: ProblemLocation;
  /** The value that was seen. It must be safe to show. */
  readonly seen?: string;
  /** The allowed values. */
  readonly allowed?: string;
  /** The command or edit that fixes the problem. */
  readonly next?: string;
  /** For `try_later`: the wait that the other side requested, in milliseconds. */
  readonly retryAfterMs?: number;
  /** For `try_later`: whether the other side is rate-limiting us. */
  readonly isRateLimit?: boolean;
  /** For `try_later`: whether the other side's daily limit is used up. */
  readonly isDailyLimit?: boolean;
  /**
   * Whether the login itself was refused, which means that the secret was sent and rejected. Not set for a missing
   * permission or scope, a client certificate, a blocked address or a full server. Sending the secret again may lock
   * the account.
   */
  readonly isLoginRefused?: boolean;
  /**
   * The address that rejected a new credential with 401. This may be a fault of that address, so the login counts as
   * refused only after a second address rejects the credential too.
   */
  readonly refusedPath?: string;
  readonly cause?: unknown;
}

/** The product's only error class: a stable code, a location, the value seen, what is allowed, what to do next. */
export class Problem extends Error {
  readonly code: string;
  readonly family: Family;
  readonly where: ProblemLocation;
  readonly seen: string | undefined;
  readonly allowed: string | undefined;
  readonly next: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isRateLimit: boolean;
  readonly isDailyLimit: boolean;
  readonly isLoginRefused: boolean;
  readonly refusedPath: string | undefined;

  constructor(init: ProblemOptions) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'Problem';
    this.code = init.code;
    this.family = init.family;
    this.where = init.where ?? {};
    this.seen = init.seen;
    this.allowed = init.allowed;
    this.next = init.next;
    this.retryAfterMs = init.retryAfterMs;
    this.isRateLimit = init.isRateLimit ?? false;
    this.isDailyLimit = init.isDailyLimit ?? false;
    this.isLoginRefused = init.isLoginRefused ?? false;
    this.refusedPath = init.refusedPath;
  }

  /** A copy with additional location fields. Fields that are already known aren't overwritten. */
  at(where: ProblemLocation): Problem {
    const next = this.next === undefined ? {} : { next: named(this.next, where.job) };
    return this.with({ where: { ...where, ...present(this.where) }, ...next });
  }

  /** A copy that marks the login itself as refused. */
  ofLogin(): Problem {
    return this.with({ isLoginRefused: true });
  }

  /** A copy, including the stack, with the given fields replaced. */
  with(changes: Partial<Pick<ProblemOptions, 'message' | 'where' | 'next' | 'isLoginRefused'>>): Problem {
    const { message, cause } = this;
    const problem = new Problem({ ...this, message, cause, ...changes });
    if (this.stack !== undefined) problem.stack = this.stack;
    return problem;
  }
}

/** Replaces `JOB` in a command with the job's name, because the code that wrote the advice may not have known it. */
function named(next: string, job: string | undefined): string {
  return job === undefined ? next : next.replaceAll(/\bJOB\b/g, () => job);
}

/**
 * Converts anything thrown to a Problem: a Problem is returned unchanged; any other error gets the caller's code and
 * family. Two errors have a fixed code, wherever they occur: a missing Sluice module, and the limit on open files.
 */
export function toProblem(thrown: unknown, otherwise: { code: string; family: Family }): Problem {
  if (thrown instanceof Problem) return thrown;
  const missing = missingModule(thrown);
  if (missing !== undefined) return incomplete(missing, thrown);
  const full = openFilesProblem(thrown);
  if (full !== undefined) return full;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new Problem({ ...otherwise, message, cause: thrown });
}

/** `OPEN_FILES_LIMIT` if the process or the machine has too many open files; undefined for any other error. */
export function openFilesProblem(thrown: unknown): Problem | undefined {
  const error = openFilesError(thrown);
  if (error === undefined) return undefined;
  const isOurs = error.code === 'EMFILE';
  return new Problem({
    code: 'OPEN_FILES_LIMIT',
    family: 'try_later',
    message: `Too many open files: ${isOurs ? 'this process' : 'the machine'} has reached its limit`,
    seen: error.message,
    next: isOurs
      ? 'raise the limit to 1024 or more (ulimit -n, LimitNOFILE= in a systemd unit, or --ulimit nofile= for a container), and start again'
      : 'raise fs.file-max (sysctl), or stop the program that keeps the files open (to find it, run lsof)',
    cause: thrown,
  });
}

function incomplete(missing: string, cause: unknown): Problem {
  return new Problem({
    code: 'INSTALLATION_INCOMPLETE',
    family: 'bug',
    message: `The installation of Sluice is incomplete: ${missing}`,
    next: 'reinstall the package, then restart the daemon; if the error persists, report it as a bug',
    cause,
  });
}

/** `file:line:character`, which terminals and editors make clickable; empty if the file is unknown. */
export function placeOf(where: ProblemLocation): string {
  if (where.file === undefined) return '';
  return [where.file, where.line, where.character].filter((part) => part !== undefined).join(':');
}

/** The whole problem as plain lines for a person: what, where, seen, allowed, next. Not yet redacted. */
export function renderProblem(problem: Problem): string {
  const { where } = problem;
  const scope = [
    where.job && `job ${where.job}`,
    where.source && `source ${where.source}`,
    where.destination && `destination ${where.destination}`,
    where.stage && `stage ${where.stage}`,
    where.row && `row ${where.row}`,
    where.column && `column ${where.column}`,
  ].filter(Boolean);
  const lines = [`${problem.code}: ${problem.message}`];
  const place = [placeOf(where), scope.join(', ')].filter((part) => part !== '').join('  ');
  if (place !== '') lines.push(`  where    ${place}`);
  if (problem.seen !== undefined) lines.push(`  seen     ${problem.seen}`);
  if (problem.allowed !== undefined) lines.push(`  allowed  ${problem.allowed}`);
  if (problem.next !== undefined) lines.push(`  next     ${advised(problem.next)}`);
  return lines.join('\n');
}
