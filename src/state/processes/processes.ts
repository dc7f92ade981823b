import { type Identity, ourselves, type ProcessState, processStateOf } from '../../lib/process-identity.ts';

/** Times in milliseconds. */
export interface HeartbeatTimes {
  /** Interval of heartbeats. */
  readonly everyMs: number;
  /** A process without a heartbeat for this long is dead, if nothing else is known about it. */
  readonly silenceMs: number;
}

/** On one machine, only processes in other containers are known by their heartbeats alone. */
export const localHeartbeats: HeartbeatTimes = { everyMs: 10_000, silenceMs: 30_000 };

/**
 * The identity of this process, and the state of other processes. It's an interface so that tests can simulate dead
 * processes.
 */
export interface Processes {
  /**
   * Identifies this process among all processes that have ever run, by its host, boot, PID namespace, PID and start
   * time.
   */
  readonly self: string;
  /** The boot ID. Times of the monotonic clock can only be compared within one boot. */
  readonly boot: string;
  /** When the boot began, in monotonic milliseconds. Set if no process could record heartbeats before. */
  readonly bootedAt?: number;
  stateOf(owner: string): ProcessState;
  /** Returns whether the owner uses the same monotonic clock as this process. */
  sharesBoot(owner: string): boolean;
  /** How often processes send heartbeats, and when they count as dead. Default: {@link localHeartbeats}. */
  readonly heartbeats?: HeartbeatTimes;
}

/**
 * Returns the state of processes on this machine. A process is identified by its PID and start time, because PIDs are
 * reused.
 */
export function systemProcesses(me: Identity = ourselves): Processes {
  const self = asText(me);
  return {
    self,
    boot: me.boot,
    stateOf: (owner) => (owner === self ? 'alive' : fateOfText(owner, me)),
    sharesBoot: (owner) => asIdentity(owner)?.boot === me.boot,
  };
}

/** Returns where an owner runs. */
export function placeOfProcess(owner: string): { readonly host: string; readonly pid: number } {
  const { host = owner, pid = 0 } = asIdentity(owner) ?? {};
  return { host, pid };
}

/** Describes an owner for users, such as `process 4711`. Adds the host if it isn't this host. */
export function processText(owner: string): string {
  const identity = asIdentity(owner);
  if (identity === undefined) return owner;
  return identity.host === ourselves.host ? `process ${identity.pid}` : `process ${identity.pid} on ${identity.host}`;
}

/**
 * Returns the owner's PID if this process can send signals to it. Returns undefined if the owner is on another machine
 * or in another container. The boot ID isn't sufficient for this, because two containers can have the same one (as with
 * systemd-nspawn), so the host is compared too.
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
