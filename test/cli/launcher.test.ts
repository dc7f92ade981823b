import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const sources = join(import.meta.dirname, '../../src/cli');
const platform = `node-linux-${process.arch}`;

let prefix: string;
let installed: string;

/** An installation as npm creates it: the package and a link to its command. The program prints how it was started. */
beforeEach(() => {
  prefix = mkdtempSync(join(tmpdir(), 'sluice prefix-'));
  installed = join(prefix, 'lib/node_modules/sluice');
  mkdirSync(join(installed, 'src/cli'), { recursive: true });
  mkdirSync(join(installed, 'dist/src/cli'), { recursive: true });
  mkdirSync(join(prefix, 'bin'));
  for (const file of ['sluice', 'sluice.js']) cpSync(join(sources, file), join(installed, 'src/cli', file));
  writeFileSync(join(installed, 'package.json'), '{"type": "module"}');
  writeFileSync(
    join(installed, 'dist/src/cli/start-built.js'),
    `export async function startBuilt() {
      console.log(JSON.stringify([process.execPath, process.pid, process.argv.slice(2)]));
      process.exitCode = 42;
    }`,
  );
  symlinkSync('../lib/node_modules/sluice/src/cli/sluice', join(prefix, 'bin/sluice'));
});

afterEach(() => rmSync(prefix, { recursive: true }));

function bringNode(modules: string): string {
  const node = join(modules, platform, 'bin/node');
  mkdirSync(dirname(node), { recursive: true });
  cpSync(process.execPath, node);
  return node;
}

function start(path: string): { code: number | null; stdout: string; stderr: string; pid: number } {
  const { status, stdout, stderr, pid } = spawnSync(join(prefix, 'bin/sluice'), ['run', 'a b', ''], {
    encoding: 'utf8',
    cwd: prefix,
    env: { PATH: path, HOME: prefix },
  });
  return { code: status, stdout, stderr, pid };
}

const system = ['/usr/bin', '/bin'].join(delimiter);

describe("an installed package's command", () => {
  it.each([
    ['in the package', () => join(installed, 'node_modules')],
    ['next to the package', () => dirname(installed)],
  ])('runs as one process, with the Node installed %s, regardless of the PATH', (_, modules) => {
    const node = bringNode(modules());
    const { code, stdout, pid } = start(system);
    expect({ code, told: JSON.parse(stdout) }).toEqual({ code: 42, told: [node, pid, ['run', 'a b', '']] });
  });

  it('uses the Node on the PATH if none was installed with it', () => {
    const { code, stdout } = start([dirname(process.execPath), system].join(delimiter));
    expect({ code, node: JSON.parse(stdout)[0] }).toEqual({ code: 42, node: process.execPath });
  });

  it('says what to install if there is no Node', () => {
    const tools = join(prefix, 'tools');
    mkdirSync(tools);
    for (const tool of ['sh', 'dirname', 'readlink']) {
      const path = ['/usr/bin', '/bin'].map((folder) => join(folder, tool)).find((one) => existsSync(one))!;
      symlinkSync(path, join(tools, tool));
    }
    const { code, stderr } = start(tools);
    expect(code).toBe(70);
    expect(stderr).toMatch(/^sluice: Node is not installed, or not on the PATH: \S+/);
    expect(stderr).toContain(`install Node 24: ${join(installed, 'docs/operate.md')}, "Node on a server"`);
  });

  it.each([
    ['libatomic.so.1: cannot open shared object file', 'next     as root: apt-get install libatomic1'],
    ['libc.so.6: version `GLIBC_2.38 not found', 'next     install Node 24 or newer: '],
  ])("says what is missing if Node can't start: %s", (lacks, next) => {
    withLibrariesOf('usr/lib');
    const message = `node: error while loading shared libraries: ${lacks}`;
    const { code, stderr } = start([fakeNode(`echo '${message}' >&2; exit 127`), system].join(delimiter));
    expect({ code, stderr }).toMatchObject({ code: 70, stderr: expect.stringContaining(message) });
    expect(stderr).toContain(next);
  });

  it('starts the Node on the PATH without testing it first if libatomic is installed', () => {
    const folder = withLibrariesOf('usr/lib');
    mkdirSync(join(folder, 'machine'), { recursive: true });
    writeFileSync(join(folder, 'machine/libatomic.so.1'), '');
    const { stdout } = start([fakeNode('echo "$#"'), system].join(delimiter));
    expect(stdout).toBe('4\n');
  });

  it('says which Node was found, which versions are allowed and where to read more if Node is too old', ({ skip }) => {
    const old = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => existsSync(path) && isOld(path));
    if (old === undefined) return skip('there is no old Node on this machine');
    const { code, stderr } = start([dirname(old), system].join(delimiter));
    expect(code).toBe(70);
    expect(stderr).toMatch(
      /^sluice: this Node is too old: v\d+\.\d+\.\d+, \S+\/node\n {2}allowed {2}Node 24 from 24.16/,
    );
    expect(stderr).toContain(`install Node 24: ${join(installed, 'docs/operate.md')}, "Node on a server"`);
  });
});

/** Makes the command look for libraries in a folder of the prefix instead of the machine's own. */
function withLibrariesOf(folder: string): string {
  const command = join(installed, 'src/cli/sluice');
  writeFileSync(command, readFileSync(command, 'utf8').replaceAll(/\/usr\/lib/g, folder));
  return join(prefix, folder);
}

/** A folder for the PATH, containing a Node that runs this script. */
function fakeNode(script: string): string {
  const folder = join(prefix, 'fake');
  mkdirSync(folder);
  writeFileSync(join(folder, 'node'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}

function isOld(node: string): boolean {
  return Number(/\d+/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout)?.[0]) < 24;
}
