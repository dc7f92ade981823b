import { type Identity, ourselves, type ProcessState, processStateOf } from '../../lib/process-identity.ts';

/**
 * The identity of this process, and which other processes are alive. Injected, so that tests can simulate dead
 * processes.
 */
export interface Processes {
  /** Unique among all processes that have ever run: host, boot, PID namespace, PID and start time. */
  readonly self: string;
  /** The boot ID. Monotonic clocks are comparable only within a boot. */
  readonly boot: string;
  stateOf(owner: string): ProcessState;
  /** Whether the owner uses the same monotonic clock as this process. */
  sharesBoot(owner: string): boolean;
}

/** The processes on this machine, identified by PID and start time, because PIDs get reused. */
export function systemProcesses(me: Identity = ourselves): Processes {
  const self = asText(me);
  return {
    self,
    boot: me.boot,
    stateOf: (owner) => (owner === self ? 'alive' : fateOfText(owner, me)),
    sharesBoot: (owner) => asIdentity(owner)?.boot === me.boot,
  };
}

/** An owner in readable form: `process 4711`, with its location if it's on another host or in a container. */
export function processText(owner: string): string {
  const identity = asIdentity(owner);
  if (identity === undefined) return owner;
  return identity.host === ourselves.host ? `process ${identity.pid}` : `process ${identity.pid} on ${identity.host}`;
}

/**
 * The PID of an owner if this process can signal it; undefined on another machine or in another container. Two
 * containers can share one boot ID (as in systemd-nspawn), so the host is compared as well.
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
