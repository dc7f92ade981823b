import { readFileSync, readlinkSync } from 'node:fs';
import type { DaemonFacts } from './protocol.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables that Node, its libraries and Sluice itself read, in addition to those that the config uses. The variable
 * for the compile cache is excluded, because it doesn't affect results.
 */
const alwaysRead = /^(?:NODE_(?!COMPILE_CACHE$)|OTEL_|PG|SSL_)|^(?:HOME|SLUICE_KEY|TMPDIR|TZ)$/;

/** This process's namespaces. In other namespaces, the same path, address or process ID may have another meaning. */
export function namespaces(): string[] {
  return ['pid', 'mnt', 'net'].map((name) => readlinkSync(`/proc/self/ns/${name}`));
}

/**
 * Whether the daemon was started with the same values of all variables that a run may read. Neither process sends its
 * values to the other, because the kernel allows users to read the environments of their own processes.
 */
export function isSameEnvironment({ pid, variables }: Pick<DaemonFacts, 'pid' | 'variables'>): boolean {
  try {
    const theirs = environmentOf(readFileSync(`/proc/${pid}/environ`, 'utf8'));
    const ours: Environment = process.env;
    const read = [...Object.keys(theirs), ...Object.keys(ours)].filter((name) => alwaysRead.test(name));
    return [...variables, ...read].every((name) => theirs[name] === ours[name]);
  } catch {
    return false;
  }
}

/** If a variable is set twice, its first value applies, as in Node. */
function environmentOf(text: string): Environment {
  const entries = text.split('\0').filter((entry) => entry.includes('='));
  return Object.fromEntries(
    entries.reverse().map((entry) => {
      const at = entry.indexOf('=', 1);
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}
