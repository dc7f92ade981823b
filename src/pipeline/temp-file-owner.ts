import { createHash } from 'node:crypto';
import { type Identity, ourselves, type ProcessState, processStateOf } from '../lib/process-identity.ts';

/**
 * Leftovers of a dead process are told from the work of a living one by their names, which begin with who made them:
 * machine, boot, process-id namespace, process id and start time.
 */
const pattern = /^\.tmp-(?:([0-9a-f]{8})-)?([0-9a-z]+)-([0-9]+)-([0-9]+)-([0-9]+)-/;

/** The process that we are, as names have it. */
export const thisProcess: Identity = {
  host: createHash('sha256').update(ourselves.host).digest('hex').slice(0, 8),
  boot: ourselves.boot.replaceAll(/[^0-9a-z]/g, '').slice(0, 12) || 'unknown',
  space: ourselves.space.replaceAll(/\D/g, '') || '0',
  pid: ourselves.pid,
  start: ourselves.start || '0',
};

/** The beginning of every temporary name of this process. */
export function tempFilePrefix({ host, boot, space, pid, start }: Identity = thisProcess): string {
  return `.tmp-${host}-${boot}-${space}-${pid}-${start}-`;
}

/** What became of the maker of a file of this name; undefined when it is not a temporary name of ours. */
export function ownerState(name: string): ProcessState | undefined {
  const match = pattern.exec(name);
  if (match === null) return undefined;
  // Names made by earlier versions do not tell the host.
  const [, host = thisProcess.host, boot, space, pid, start] = match;
  const maker = { host, boot: boot!, space: space!, pid: Number(pid), start: start === '0' ? '' : start! };
  return processStateOf(maker, thisProcess);
}
