import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseFault } from '../cli/program.ts';
import { root } from './command-lines.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const there = (path: string): boolean => existsSync(join(root, path));

interface Shape {
  /** Why it's only checked. */
  readonly why: string;
  /** Subcommands that a page may use; undefined if the program has none. */
  readonly verbs?: readonly string[];
  readonly flags: readonly string[];
  /** What is wrong with the other words, if anything. */
  readonly fault?: (words: readonly string[]) => string | undefined;
}

/** Programs that a test can't run, and the rules for lines that use them. */
export const shapes: Readonly<Record<string, Shape>> = {
  npm: {
    why: 'reads a registry, or runs a whole suite',
    verbs: ['ci', 'pack', 'install', 'root', 'run', 'test'],
    flags: ['--ignore-scripts', '--global', '--omit', '--save-dev', '--rows', '--runs', '--only'],
    fault: ([verb, name = '', ...rest]) => {
      if (verb === 'run') return name in manifest.scripts ? undefined : `package.json has no script ${name}`;
      const paths = verb === 'test' ? [name, ...rest] : [];
      return paths.find((path) => path.includes('/') && !there(path) && !there(`${path}.test.ts`));
    },
  },
  docker: {
    why: 'needs an engine',
    verbs: ['build', 'compose', 'exec'],
    flags: ['-t', '-it', '--build-arg'],
  },
  podman: { why: 'needs an engine', verbs: ['load'], flags: ['--input'] },
  buildah: { why: 'needs an engine', verbs: ['build'], flags: ['--format'] },
  systemctl: {
    why: 'changes the machine',
    verbs: ['daemon-reload', 'enable', 'reload', 'status'],
    flags: ['--now'],
    fault: ([, unit]) =>
      unit === undefined || there(`deploy/systemd/${unit}.service`) ? undefined : `no unit ${unit}`,
  },
  journalctl: { why: "reads the machine's journal", flags: ['-u', '-o', '-p'] },
  install: { why: 'writes to /etc', flags: ['-d', '-m'] },
  cp: {
    why: 'writes to /etc',
    flags: [],
    fault: ([from = '']) => (there(from) ? undefined : `there is no ${from}`),
  },
  rm: { why: 'removes installed files', flags: ['-r'] },
  chown: { why: 'needs root', flags: ['-R'] },
  tar: { why: 'unpacks into /usr/local', flags: ['-xJf', '-C', '--strip-components'] },
  'apt-get': { why: 'changes the machine', verbs: ['install', 'remove', 'purge'], flags: ['--no-install-recommends'] },
  dnf: { why: 'changes the machine', verbs: ['install', 'remove'], flags: [] },
  node: {
    why: 'is a measurement',
    flags: ['-e'],
    fault: ([file = '']) => (file === '0' || there(file) ? undefined : `there is no ${file}`),
  },
  psql: { why: 'appears in a comparison, and no server runs here', flags: ['-c'] },
};

/** What is wrong with the words of a command that wasn't run; undefined if nothing is. */
export async function shapeFault([program = '', ...words]: readonly string[]): Promise<string | undefined> {
  if (program === 'sluice') return parseFault(words);
  const inside = program === 'docker' ? insideContainer(words) : undefined;
  if (inside !== undefined)
    return (await parseFault(inside)) ?? shapeFault([program, ...words.slice(0, words.indexOf('exec') + 1)]);
  const shape = shapes[program];
  if (shape === undefined) return `unknown program ${program}: add it to test/docs/shapes.ts`;
  const flag = words.find(
    (word) => word.startsWith('-') && word !== '--' && !shape.flags.includes(word.split('=')[0]!),
  );
  if (flag !== undefined) return `${program}: unknown flag ${flag}`;
  const rest = words.filter((word) => !word.startsWith('-'));
  if (shape.verbs !== undefined && !shape.verbs.includes(rest[0] ?? ''))
    return `${program}: unknown command ${rest[0]}`;
  return shape.fault?.(rest);
}

/** What follows `exec CONTAINER sluice`, or `exec SERVICE node …/sluice.js`. */
function insideContainer(words: readonly string[]): string[] | undefined {
  const start = words.findIndex(
    (word, i) => i > words.indexOf('sluice') && (word === 'sluice' || word === '/app/src/cli/sluice.js'),
  );
  return words.includes('exec') && start > 0 ? words.slice(start + 1) : undefined;
}
