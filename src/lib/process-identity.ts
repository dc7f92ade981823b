import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { lookUpProcess } from './process-table.ts';

/**
 * Identifies a process among all that ever ran. A process ID alone isn't enough: it may be reused after a restart or in
 * another container.
 */
export interface Identity {
  readonly host: string;
  /** The boot ID. systemd-nspawn shows some of its processes a different boot ID. */
  readonly boot: string;
  /** The PID namespace. Two containers that share a volume both have a process 1. */
  readonly space: string;
  readonly pid: number;
  /**
   * Start time in clock ticks since boot, which distinguishes processes with the same ID; empty if the system doesn't
   * provide it.
   */
  readonly start: string;
}

/** Known state of a process: alive, dead, or not visible from here. */
export type ProcessState = 'alive' | 'dead' | 'unknown';

/** The current process. */
export const ourselves: Identity = {
  host: hostname(),
  boot: fileOr('/proc/sys/kernel/random/boot_id', hostname()),
  space: linkOr('/proc/self/ns/pid', 'one'),
  pid: process.pid,
  start: startOfOurs(),
};

/**
 * A process's state as far as `me` can tell: from the process table, if both share one, or because the machine has
 * rebooted since. If it's `unknown`, callers check the heartbeat instead.
 */
export function processStateOf(owner: Identity, me: Identity = ourselves): ProcessState {
  if (owner.boot === me.boot) return owner.space === me.space ? fateInTable(owner) : 'unknown';
  if (owner.host !== me.host) return 'unknown';
  // The same boot may have two IDs, as in systemd-nspawn, so an existing process may still be alive.
  return owner.space === me.space && fateInTable(owner) !== 'dead' ? 'unknown' : 'dead';
}

function fateInTable({ pid, start }: Identity): ProcessState {
  const entry = lookUpProcess(pid);
  if (entry === 'none') return 'dead';
  if (entry === 'hidden' || start === '') return 'unknown';
  return entry.start === start && !entry.isOver ? 'alive' : 'dead';
}

function startOfOurs(): string {
  const entry = lookUpProcess(process.pid);
  return typeof entry === 'string' ? '' : entry.start;
}

function fileOr(path: string, otherwise: string): string {
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
