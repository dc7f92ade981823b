import { Problem } from '#sdk';
import type { Server, ServerAddress } from './address.ts';
import type { ConnectOptions, LoginOptions } from './driver.ts';
import type { TargetSession } from './options.ts';

/** How long a server that failed is tried after the others. */
const avoidMs = 10 * 60_000;

/** When a login or a read last failed on a server, by the server's name. */
const failures = new Map<string, number>();

/** Makes the next logins try the source's other servers first. */
export function avoid(server: Server): void {
  failures.set(server.place, performance.now());
}

/** Errors of a server that other queries don't have: locks, deadlocks, changed tables, lack of memory or disk space. */
const ownErrors = /^(SQLSTATE (40P01|55P03|53)|error (1020|1021|1037|1038|1041|1135|1205|1206|1213|1412|1637|3572)\b)/;

/**
 * Whether a problem with a query means that another server should be tried first: the connection was lost, the server
 * shut down or failed over, or a standby canceled the query in a recovery conflict.
 */
export function isServerFailure({ family, seen = '' }: Problem): boolean {
  return family === 'try_later' && !ownErrors.test(seen);
}

interface Opener<S> {
  readonly open: (login: LoginOptions) => Promise<S>;
  /** Why the server of a session isn't one that the source asks for; undefined if it is. */
  readonly objection: (session: S, target: TargetSession) => Promise<string | undefined>;
  readonly close: (session: S) => Promise<void>;
  /** Closes a session whose server doesn't respond. */
  readonly drop: (session: S) => void;
}

/**
 * Opens a session on the first of the source's servers that is available and suitable. As in libpq, the other servers
 * aren't tried if a server refuses the login. Throws that problem, or `DB_NO_SERVER`, which says what is wrong with
 * each server.
 */
export async function openOnAny<S>(options: ConnectOptions, opener: Opener<S>): Promise<S> {
  const { servers, target } = options.address;
  const passes: readonly TargetSession[] = target === 'prefer-standby' ? ['standby', 'any'] : [target];
  const reasons = new Map<string, string>();
  for (const wanted of passes) {
    for (const server of inOrder(servers)) {
      const result = await openIfSuitable(opener, { ...options, server }, wanted).catch((thrown: unknown) => {
        const isAway = thrown instanceof Problem && thrown.family === 'try_later';
        if (!isAway || servers.length === 1) throw thrown;
        avoid(server);
        return thrown.message;
      });
      if (typeof result !== 'string') return result.session;
      reasons.set(server.place, result);
      if (servers.length > 1) options.log.info('database server skipped', { place: server.place, reason: result });
    }
  }
  throw noServer(target, reasons);
}

/** The session; otherwise why its server isn't suitable. */
async function openIfSuitable<S>(opener: Opener<S>, login: LoginOptions, target: TargetSession) {
  const session = await opener.open(login);
  let reason: string | undefined;
  try {
    reason = await opener.objection(session, target);
  } catch (thrown) {
    opener.drop(session);
    throw thrown;
  }
  if (reason === undefined) return { session };
  await opener.close(session);
  return reason;
}

/** Which of several servers was connected to, as the end of a sentence. */
export function servedBy({ servers }: ServerAddress, place: string): string {
  return servers.length > 1 ? ` at ${place}` : '';
}

function inOrder(servers: readonly Server[]): readonly Server[] {
  const failedAt = (server: Server) => {
    const at = failures.get(server.place);
    return at === undefined || at + avoidMs < performance.now() ? 0 : at;
  };
  return servers.toSorted((a, b) => failedAt(a) - failedAt(b));
}

function noServer(target: TargetSession, reasons: ReadonlyMap<string, string>): Problem {
  const kind = target === 'any' ? '' : ` that matches target_session_attrs: ${target}`;
  return new Problem({
    code: 'DB_NO_SERVER',
    family: 'try_later',
    message: `cannot connect to a server${kind}`,
    seen: [...reasons].map(([place, reason]) => `${place}: ${reason}`).join('; '),
    next: 'check the hosts and ports, and that one of the servers is running; then run `sluice check --connect`',
  });
}
