import type { Config, Source } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { Problem, toProblem } from '../../lib/problem.ts';
import type { Logins } from '../compose.ts';
import type { LoginBreaker } from '../login-holds/login-breaker.ts';
import { guardSource } from '../login-holds/source-session.ts';

/** The result of a check: the source's response, or the reason why the source didn't respond. */
export type CheckSourceResult = { readonly message: string } | { readonly problem: Problem };

export interface CheckSourceOptions {
  readonly config: Pick<Config, 'folder'>;
  readonly logins: Logins;
  readonly loginGate: LoginBreaker;
  /**
   * True if a user requested the check. The check then tries the login even if it's on hold, and a successful login
   * ends the hold.
   */
  readonly isPerson?: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A source that doesn't respond within this time is reported as unreachable. */
const patienceMs = 60_000;

/**
 * Makes the smallest real request that the connector supports, with a timeout of one minute. Doesn't contact the
 * dashboard service, so it doesn't use the daily allowance. Throws only the signal's reason.
 */
export async function checkSource(source: Source, given: CheckSourceOptions): Promise<CheckSourceResult> {
  const { config, logins, loginGate, clock, log, signal } = given;
  const { name, connector, options } = source;
  const late = new AbortController();
  const login = logins.of(source);
  const context = { source: options, folder: config.folder, signal: AbortSignal.any([signal, late.signal]), log };
  const guard = guardSource(loginGate, source, given);
  const asked = guard({ signal: context.signal, login }, (logIn) => connector.check({ ...context, ...logIn }));
  const patience = new AbortController();
  const waited = clock.sleep(patienceMs, AbortSignal.any([signal, patience.signal])).then(() => {
    const problem = silent();
    late.abort(problem);
    throw problem;
  });
  // The slower promise may still reject. Mark its rejection as handled.
  for (const one of [asked, waited]) one.catch(() => undefined);
  try {
    return { message: await Promise.race([asked, waited]) };
  } catch (thrown) {
    signal.throwIfAborted();
    const problem = late.signal.aborted ? silent() : toProblem(thrown, { code: 'CHECK_THREW', family: 'bug' });
    return { problem: problem.at({ source: name }) };
  } finally {
    patience.abort();
  }
}

function silent(): Problem {
  return new Problem({
    code: 'CHECK_SILENT',
    family: 'try_later',
    message: `Timeout: no response within ${patienceMs / 1000} seconds`,
    next: 'sluice check --connect',
  });
}
