import { Problem } from '#sdk';
import { placeOf, type Server } from './address.ts';
import type { ConnectOptions, LoginOptions } from './driver.ts';
import type { TargetSession } from './options.ts';

/** How long a server on which a read failed is tried after the others. */
const avoidMs = 10 * 60_000;

/** When a read last failed on a server, by the server's name. */
const failures = new Map<string, number>();

/** Makes the next logins try the source's other servers first. */
export function avoid(server: Server): void {
  failures.set(placeOf(server), performance.now());
}

interface Opener<S> {
  readonly open: (login: LoginOptions) => Promise<S>;
  /** Why the server of a session isn't one that the source asks for; undefined if it is. */
  readonly objection: (session: S, target: TargetSession) => Promise<string | undefined>;
  readonly close: (session: S) => Promise<void>;
}

/**
 * Opens a session on the first of the source's servers that is available and suitable. As in libpq, the other servers
 * aren't tried if a server refuses the login. Throws that problem, or `DB_NO_SERVER`, which says what is wrong with
 * each server.
 */
export async function openOnAny<S>(door: ConnectOptions, { open, objection, close }: Opener<S>): Promise<S> {
  const { servers, target } = door.address;
  const passes: readonly TargetSession[] = target === 'prefer-standby' ? ['standby', 'any'] : [target];
  const reasons = new Map<string, string>();
  for (const wanted of passes) {
    for (const server of inOrder(servers)) {
      const session = await open({ ...door, server }).catch((thrown: unknown) => {
        const isAway = thrown instanceof Problem && thrown.family === 'try_later';
        if (!isAway || servers.length === 1) throw thrown;
        reasons.set(placeOf(server), thrown.message);
      });
      if (session === undefined) continue;
      const reason = await objection(session, wanted);
      if (reason === undefined) return session;
      reasons.set(placeOf(server), reason);
      await close(session);
    }
  }
  throw noServer(target, reasons);
}

function inOrder(servers: readonly Server[]): readonly Server[] {
  const failedAt = (server: Server) => {
    const at = failures.get(placeOf(server));
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
