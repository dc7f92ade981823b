import { readFileSync, readlinkSync } from 'node:fs';
import { processExists } from './process-exists.ts';

/** A line of the process table, see proc(5). */
export interface ProcessEntry {
  /** Clock ticks since boot. */
  readonly start: string;
  /** It has ended and waits to be reaped, so that its number is still taken. */
  readonly isOver: boolean;
}

/**
 * What the table has of a process. `none`: there is no process of this number. `hidden`: there is one, and no more can be
 * known, because /proc shows only one's own (`hidepid`, systemd's `ProtectProc`), or is another namespace's, or is not there.
 */
export function lookUpProcess(pid: number): ProcessEntry | 'none' | 'hidden' {
  const text = isOurs() ? statusText(pid) : '';
  if (text === '') return processExists(pid) ? 'hidden' : 'none';
  // Counted after the command name, which may itself hold spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { start: fields[19] ?? '', isOver: ['Z', 'X'].includes(fields[0] ?? '') };
}

/** Whether /proc speaks of our namespace: in one made by `unshare --pid` alone, it is still that of outside. */
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
