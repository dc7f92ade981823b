import { createHash } from 'node:crypto';
import { type Identity, ourselves, type ProcessState, processStateOf } from '../lib/process-identity.ts';

/**
 * A temporary file's name begins with its owner (host, boot, PID namespace, PID and start time), so that a dead
 * process's leftovers can be identified.
 */
const pattern = /^\.tmp-(?:([0-9a-f]{8})-)?([0-9a-z]+)-([0-9]+)-([0-9]+)-([0-9]+)-/;

/** This process, as identified in file names. */
export const thisProcess: Identity = {
  host: createHash('sha256').update(ourselves.host).digest('hex').slice(0, 8),
  boot: ourselves.boot.replaceAll(/[^0-9a-z]/g, '').slice(0, 12) || 'unknown',
  space: ourselves.space.replaceAll(/\D/g, '') || '0',
  pid: ourselves.pid,
  start: ourselves.start || '0',
};

/** Prefix of this process's temporary files. */
export function tempFilePrefix({ host, boot, space, pid, start }: Identity = thisProcess): string {
  return `.tmp-${host}-${boot}-${space}-${pid}-${start}-`;
}

/** Whether a temporary file's owner is alive; undefined for other names. */
export function ownerState(name: string): ProcessState | undefined {
  const match = pattern.exec(name);
  if (match === null) return undefined;
  // File names without a host are from earlier versions.
  const [, host = thisProcess.host, boot, space, pid, start] = match;
  const maker = { host, boot: boot!, space: space!, pid: Number(pid), start: start === '0' ? '' : start! };
  return processStateOf(maker, thisProcess);
}
