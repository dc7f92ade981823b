import { readFileSync, readlinkSync } from 'node:fs';
import { processExists } from '../lib/process-exists.ts';

/**
 * Leftovers of a dead process are told from the work of a living one by their names: boot, process-id namespace,
 * process id and the process's start time. A process id alone would be taken again after a restart.
 */
export interface Owner {
  readonly boot: string;
  /** Two containers on one volume have the same boot, but their process ids mean different things. */
  readonly namespace: string;
  readonly pid: number;
  /** In clock ticks since boot; `0` where the system does not tell. */
  readonly start: string;
}

/** The process that we are. */
export const ourselves: Owner = {
  boot: readOr('/proc/sys/kernel/random/boot_id', 'unknown').replaceAll('-', '').slice(0, 12),
  namespace: namespaceOf(),
  pid: process.pid,
  start: startOf(process.pid) ?? '0',
};

const pattern = /^\.tmp-([0-9a-z]+)-([0-9]+)-([0-9]+)-([0-9]+)-/;

/** The beginning of every temporary name of this process. */
export function ownedPrefix(owner: Owner = ourselves): string {
  return `.tmp-${owner.boot}-${owner.namespace}-${owner.pid}-${owner.start}-`;
}

/** Who made a file of this name; undefined when it is not a temporary name of ours. */
export function ownerOf(name: string): Owner | undefined {
  const match = pattern.exec(name);
  if (match === null) return undefined;
  return { boot: match[1]!, namespace: match[2]!, pid: Number(match[3]), start: match[4]! };
}

/** `unknown` where this process cannot see the other one's process table. */
export function stateOf(owner: Owner): 'alive' | 'dead' | 'unknown' {
  if (owner.boot !== ourselves.boot) return 'dead';
  if (owner.namespace !== ourselves.namespace) return 'unknown';
  if (!processExists(owner.pid)) return 'dead';
  const start = startOf(owner.pid);
  return start === undefined || owner.start === '0' || start === owner.start ? 'alive' : 'dead';
}

/** Field 22 of /proc/PID/stat, counted after the command name, which may itself hold spaces and brackets. */
function startOf(pid: number): string | undefined {
  const stat = readOr(`/proc/${pid}/stat`, '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function namespaceOf(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '0';
  }
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return otherwise;
  }
}
