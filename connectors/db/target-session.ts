import { Problem } from '#sdk';
import type { ConnectOptions } from './driver.ts';
import { connectTimeout } from './network-problems.ts';
import type { TargetSession } from './options.ts';

/** A session that was just opened. */
interface OpenedSession extends Pick<ConnectOptions, 'address' | 'signal'> {
  readonly place: string;
  /** Returns one row. */
  readonly row: (sql: string) => Promise<readonly string[]>;
  /** Closes the connection, which ends a pending query. */
  readonly drop: () => void;
}

/**
 * Why a PostgreSQL server isn't one that the source asks for; undefined if it is. The server must answer within the
 * connect timeout. Throws a Problem, or the signal's reason.
 */
export async function objectionTo(target: TargetSession, session: OpenedSession): Promise<string | undefined> {
  if (target === 'any') return undefined;
  const { address, signal, place, row, drop } = session;
  const deadline = AbortSignal.timeout(address.connectSeconds * 1000);
  const either = AbortSignal.any([signal, deadline]);
  either.addEventListener('abort', drop);
  try {
    signal.throwIfAborted();
    const [answer] = await row(queryFor(target));
    return reasonAgainst(target, answer);
  } catch (thrown) {
    signal.throwIfAborted();
    if (deadline.aborted) throw connectTimeout(place, address.connectSeconds);
    if (!(thrown instanceof Problem) || thrown.family === 'try_later') throw thrown;
    return `the server does not support target_session_attrs: ${target}; ${thrown.message}`;
  } finally {
    either.removeEventListener('abort', drop);
  }
}

/** Other databases that speak PostgreSQL's protocol may know only the first statement. */
function queryFor(target: TargetSession): string {
  const isAboutWrites = target === 'read-write' || target === 'read-only';
  return isAboutWrites ? 'show transaction_read_only' : 'select pg_catalog.pg_is_in_recovery()';
}

/** @param answer `on` or `off`, or whether the server is a standby */
function reasonAgainst(target: TargetSession, answer: string | undefined): string | undefined {
  if (target === 'read-write' && answer === 'on') return 'sessions are read-only';
  if (target === 'read-only' && answer === 'off') return 'sessions are not read-only';
  if (target === 'primary' && answer === 'true') return 'it is a standby';
  if (target === 'standby' && answer === 'false') return 'it is not a standby';
  return undefined;
}
