import { type Identity, ourselves, type ProcessState, processStateOf } from '../../lib/process-identity.ts';

/** Who this process is and what became of others. Handed in, so that tests can let processes die. */
export interface Processes {
  /** Names this process among all that ever ran: host, boot, pid space, pid and start time. */
  readonly self: string;
  /** The boot of the machine, within which monotonic clocks can be compared. */
  readonly boot: string;
  stateOf(owner: string): ProcessState;
  /** Whether its monotonic clock is ours. */
  sharesBoot(owner: string): boolean;
}

/** The processes of this machine, identified by PID and start time, because PIDs are reused. */
export function systemProcesses(me: Identity = ourselves): Processes {
  const self = asText(me);
  return {
    self,
    boot: me.boot,
    stateOf: (owner) => (owner === self ? 'alive' : fateOfText(owner, me)),
    sharesBoot: (owner) => asIdentity(owner)?.boot === me.boot,
  };
}

/** An owner as a person knows processes: `process 4711`, and where it is when that is another host or container. */
export function processText(owner: string): string {
  const identity = asIdentity(owner);
  if (identity === undefined) return owner;
  return identity.host === ourselves.host ? `process ${identity.pid}` : `process ${identity.pid} on ${identity.host}`;
}

/**
 * The process id of an owner, if a signal from here reaches it; undefined on another machine or in another container. One boot
 * may have two names, as in systemd-nspawn, so the host counts as well.
 */
export function pidHere(owner: string): number | undefined {
  const identity = asIdentity(owner);
  if (identity === undefined || identity.space !== ourselves.space) return undefined;
  return identity.boot === ourselves.boot || identity.host === ourselves.host ? identity.pid : undefined;
}

function fateOfText(owner: string, me: Identity): ProcessState {
  const identity = asIdentity(owner);
  return identity === undefined ? 'unknown' : processStateOf(identity, me);
}

const asText = ({ host, boot, space, pid, start }: Identity) => JSON.stringify([host, boot, space, pid, start]);

function asIdentity(text: string): Identity | undefined {
  try {
    const [host, boot, space, pid, start] = JSON.parse(text) as [string, string, string, number, string];
    return { host, boot, space, pid, start };
  } catch {
    return undefined;
  }
}
