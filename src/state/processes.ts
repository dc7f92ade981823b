import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { processExists } from '../lib/process-exists.ts';

/** What is known of the process that took something: surely alive, surely dead, or not to be seen from here. */
export type Fate = 'alive' | 'dead' | 'unknown';

/** Who this process is and what became of others. Handed in, so that tests can let processes die. */
export interface Processes {
  /** Names this process among all that ever ran: host, boot, pid space, pid and start time. */
  readonly self: string;
  /** The boot of the machine, within which monotonic clocks can be compared. */
  readonly boot: string;
  fate(owner: string): Fate;
  /** Whether its monotonic clock is ours. */
  sharesBoot(owner: string): boolean;
}

interface Identity {
  readonly host: string;
  readonly boot: string;
  readonly space: string;
  readonly pid: number;
  readonly start: string;
}

/** The processes of this machine, told apart by pid and start time, so that a reused pid deceives nobody. */
export function systemProcesses(): Processes {
  const me: Identity = {
    host: hostname(),
    boot: readOr('/proc/sys/kernel/random/boot_id', hostname()),
    space: linkOr('/proc/self/ns/pid', 'one'),
    pid: process.pid,
    start: statusOf(process.pid)?.start ?? '',
  };
  const self = asText(me);
  return {
    self,
    boot: me.boot,
    fate: (owner) => (owner === self ? 'alive' : fateOf(asIdentity(owner), me)),
    sharesBoot: (owner) => asIdentity(owner)?.boot === me.boot,
  };
}

/** An owner as a person knows processes: `process 4711`. */
export function processText(owner: string): string {
  const identity = asIdentity(owner);
  return identity === undefined ? owner : `process ${identity.pid}`;
}

function fateOf(owner: Identity | undefined, me: Identity): Fate {
  if (owner === undefined || owner.host !== me.host) return 'unknown';
  if (owner.boot !== me.boot) return 'dead';
  if (owner.space !== me.space) return 'unknown';
  return isAlive(owner) ? 'alive' : 'dead';
}

function isAlive({ pid, start }: Identity): boolean {
  // Where there is no /proc.
  if (start === '') return processExists(pid);
  const status = statusOf(pid);
  return status !== undefined && status.start === start && !['Z', 'X'].includes(status.state);
}

/** State letter and start time (clock ticks since boot), see proc(5). The name in parentheses may hold anything. */
function statusOf(pid: number): { state: string; start: string } | undefined {
  const text = readOr(`/proc/${pid}/stat`, '');
  if (text === '') return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return otherwise;
  }
}

function linkOr(path: string, otherwise: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return otherwise;
  }
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
