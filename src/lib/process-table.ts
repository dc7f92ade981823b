import { readFileSync, readlinkSync } from 'node:fs';
import { processExists } from './process-exists.ts';

/** An entry in the process table, see proc(5). */
export interface ProcessEntry {
  /** The process's start time in clock ticks since boot. */
  readonly start: string;
  /** Whether the process has ended but hasn't been reaped, so that its ID is still in use. */
  readonly isOver: boolean;
  /** Whether the process's main thread runs or waits for a CPU, and doesn't sleep. */
  readonly isRunnable: boolean;
}

/**
 * The process table's entry. `none`: no process has this ID. `hidden`: it exists, but nothing more is known, because
 * /proc only shows the user's own processes (`hidepid`, systemd's `ProtectProc`), belongs to another namespace, or
 * isn't mounted.
 */
export function lookUpProcess(pid: number): ProcessEntry | 'none' | 'hidden' {
  const text = isOurs() ? statusText(pid) : '';
  if (text === '') return processExists(pid) ? 'hidden' : 'none';
  // The fields are counted after the command name, which may contain spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = ''] = fields;
  return { start: fields[19] ?? '', isOver: ['Z', 'X'].includes(state), isRunnable: state === 'R' };
}

/**
 * Whether /proc belongs to our PID namespace. After `unshare --pid` alone, it still belongs to the parent's namespace.
 */
function isOurs(): boolean {
  try {
    return Number(readlinkSync('/proc/self')) === process.pid;
  } catch {
    return false;
  }
}

function statusText(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}
