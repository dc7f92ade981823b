import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packagesNeeded } from './needed.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

describe('the built package', () => {
  it('runs the demo without a single TypeScript file, and with the packages that it asks for and no others', async () => {
    await run('npm', ['run', 'build'], { cwd: root });
    const folder = await mkdtemp(join(tmpdir(), 'sluice-built-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
    await cp(join(root, 'config'), join(folder, 'config'), { recursive: true });
    await linkPackages(folder);
    const { stdout } = await run(process.execPath, ['dist/src/cli/main.js', 'demo'], { cwd: folder });
    expect(stdout).toMatch(/orders +4,887 .* delivered/);
    expect(stdout).toMatch(/orders +4,887 .* unchanged/);
  });

  it('would ship everything that it needs and nothing of the workshop', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: root });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    for (const wanted of [
      'src/cli/sluice.js',
      'dist/package.json',
      'dist/src/cli/main.js',
      'config/starter.yaml',
      'README.md',
      'LICENSE',
    ]) {
      expect(paths).toContain(wanted);
    }
    expect(paths.filter((path) => /^(test|bench|\.ci)\/|(?<!\.d)\.ts$/.test(path))).toEqual([]);
  });

  it('is an SDK for authors elsewhere: types, the kit in their own test runner, and their connector in a run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-pack-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
    const own = join(folder, 'node_modules/sluice');
    await mkdir(own, { recursive: true });
    const [tarball] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
    await run('tar', ['-xzf', join(folder, tarball!), '-C', own, '--strip-components=1']);
    await linkPackages(own);
    await symlink(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));

    const sluice = (...args: string[]) =>
      run(process.execPath, ['node_modules/sluice/src/cli/sluice.js', ...args], { cwd: folder });
    await sluice('connectors', 'scaffold', 'desk', '--into', '.');
    expect((await sluice('connectors', 'test', 'desk.mts')).stdout).toContain('desk keeps every promise');
    const { stdout } = await run(process.execPath, ['--test', 'desk.test.mts'], { cwd: folder });
    expect(stdout).toMatch(/^. fail 0$/m);
    expect(stdout).not.toMatch(/^. pass 0$/m);
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', '--types', 'node'];
    const typed = await run(
      join(root, 'node_modules/.bin/tsc'),
      [...flags, '--allowImportingTsExtensions', 'desk.test.mts'],
      {
        cwd: folder,
      },
    );
    expect(typed.stdout).toBe('');
  });
});

/** Stands for the packages that an installation would fetch: those and no others. */
async function linkPackages(folder: string): Promise<void> {
  for (const name of await packagesNeeded()) {
    const at = join(folder, 'node_modules', name);
    await mkdir(dirname(at), { recursive: true });
    await symlink(join(root, 'node_modules', name), at);
  }
}
