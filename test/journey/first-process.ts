import { spawnSync } from 'node:child_process';

const isRoot = process.getuid!() === 0;

/** A program that starts another one as the first process in a PID namespace, as containers do. */
export const firstProcess: readonly string[] = [
  'unshare',
  ...(isRoot ? [] : ['--user', '--map-root-user']),
  ...['--pid', '--fork', '--mount-proc', '--kill-child'],
];

/** Why this machine can't run such a process; undefined if it can. */
export function noFirstProcess(): string | undefined {
  const [program, ...flags] = [...firstProcess, 'true'];
  const { status, stderr, error } = spawnSync(program!, flags, { encoding: 'utf8' });
  return status === 0 ? undefined : `this user may not make a PID namespace: ${error?.message ?? stderr.trim()}`;
}
