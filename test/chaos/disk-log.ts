import { readFileSync } from 'node:fs';
import type { Start } from '../journey/process.ts';

/** One disk operation of a process, as the system saw it. It happened between the log lines `from` and `to`. */
export type DiskStep = { readonly from: number; readonly to: number; readonly path: string } & (
  | { readonly what: 'create'; readonly empties: boolean }
  | { readonly what: 'mkdir' | 'remove' | 'sync' }
  /** Without an offset: at the end. */
  | { readonly what: 'write'; readonly bytes: Buffer; readonly at?: number }
  | { readonly what: 'cut'; readonly size: number }
  | { readonly what: 'rename'; readonly onto: string }
);

const calls = [
  ...['open', 'openat', 'creat', 'mkdir', 'mkdirat', 'rmdir', 'unlink', 'unlinkat', 'rename', 'renameat', 'renameat2'],
  ...['write', 'pwrite64', 'writev', 'pwritev', 'pwritev2', 'truncate', 'ftruncate', 'fallocate', 'copy_file_range'],
  ...['sendfile', 'link', 'linkat', 'symlink', 'symlinkat', 'fsync', 'fdatasync'],
];

/** How to start a process whose disk operations are logged. It stays a direct child, so it can be killed as usual. */
export function logged(file: string): Pick<Start, 'under'> {
  const quiet = ['-D', '-f', '-qqq', '-e', 'signal=none', '--seccomp-bpf'];
  return { under: ['strace', ...quiet, '-y', '-xx', '-s', '100000000', '-e', `trace=${calls}`, '-o', file] };
}

/** What was done below a folder and to the folder itself, in order of completion. Failed operations are omitted. */
export function readDiskLog(file: string, folder: string): DiskStep[] {
  const begun = new Map<string, { from: number; text: string }>();
  const steps: DiskStep[] = [];
  for (const [line, raw] of readFileSync(file, 'latin1').split('\n').entries()) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(raw) ?? [];
    const open = / ?<unfinished \.\.\.>$/.exec(text);
    if (open !== null) begun.set(thread, { from: line, text: text.slice(0, open.index) });
    if (open !== null) continue;
    const resumed = /^<\.\.\. \w+ resumed>/.exec(text);
    const before = resumed === null ? undefined : begun.get(thread);
    const whole = resumed === null ? text : (before?.text ?? '') + text.slice(resumed[0].length);
    const step = stepOf(whole, { from: before?.from ?? line, to: line }, folder);
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

function stepOf(text: string, when: { from: number; to: number }, folder: string): DiskStep | undefined {
  const [, call, list, result] = /^(\w+)\((.*)\) += (-?\d+)/.exec(text) ?? [];
  if (call === undefined || list === undefined || Number(result) < 0) return undefined;
  const given = list.split(', ');
  // Strings and the paths of file descriptors, in order.
  const named = [...list.matchAll(/(?:"|\d<|AT_FDCWD<)((?:\\x[0-9a-f]{2})*)[">]/g)].map((match) => unhex(match[1]!));
  const paths = (call.endsWith('at') || call === 'renameat2' ? named.filter((_, i) => i % 2 === 1) : named).map(String);
  const [path = '', onto = ''] = paths;
  if (path !== folder && !path.startsWith(`${folder}/`)) return undefined;
  const at = { ...when, path };
  switch (call) {
    case 'open':
    case 'openat':
    case 'creat':
      return /O_CREAT|O_TRUNC/.test(list) ? { ...at, what: 'create', empties: list.includes('O_TRUNC') } : undefined;
    case 'mkdir':
    case 'mkdirat':
      return { ...at, what: 'mkdir' };
    case 'rmdir':
    case 'unlink':
    case 'unlinkat':
      return { ...at, what: 'remove' };
    case 'fsync':
    case 'fdatasync':
      return { ...at, what: 'sync' };
    case 'write':
      return { ...at, what: 'write', bytes: named[1]!.subarray(0, Number(result)) };
    case 'pwrite64':
      return { ...at, what: 'write', bytes: named[1]!.subarray(0, Number(result)), at: Number(given.at(-1)) };
    case 'ftruncate':
    case 'truncate':
      return { ...at, what: 'cut', size: Number(given.at(-1)) };
    case 'rename':
    case 'renameat':
    case 'renameat2':
      return { ...at, what: 'rename', onto };
    default:
      throw new Error(`unknown effect of ${call} on a disk that loses power: ${path}`);
  }
}

const unhex = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex');
