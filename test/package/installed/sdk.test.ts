import { execFile } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { makeFolder } from '../../journey/world.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');

describe('the packed tarball', () => {
  it('contains everything that it needs, and nothing that only development needs', async () => {
    const { stdout } = await run('tar', ['-tzf', inject('tarball')]);
    const paths = stdout
      .trim()
      .split('\n')
      .map((path) => path.replace(/^package\//, ''));
    for (const wanted of [
      'src/cli/sluice',
      'src/cli/sluice.js',
      'dist/build.json',
      'dist/src/cli/main.js',
      'config/starter.yaml',
      'LICENSE',
    ]) {
      expect(paths).toContain(wanted);
    }
    expect(paths.filter((path) => /^(test|bench|\.ci|deploy\/(build|package))\/|(?<!\.d)\.ts$/.test(path))).toEqual([]);
  });
});

describe.each(inject('nodes'))('the installed package under Node $major', ({ path: node }) => {
  it("lets external authors use the SDK's types, run the test kit in their own test runner, and run their connector", async () => {
    const folder = await makeFolder();
    await cp(resolve(inject('installed'), '..'), join(folder, 'node_modules'), { recursive: true });
    await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
    // Besides their own, the SDK's types need only those of Node.
    await symlink(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
    const sluice = (...args: string[]) =>
      run(node, ['node_modules/sluice/src/cli/sluice.js', ...args], { cwd: folder });
    await sluice('connectors', 'scaffold', 'desk', '--into', '.');
    expect((await sluice('connectors', 'test', 'desk.mts')).stdout).toContain('desk passes all checks');
    const { stdout } = await run(node, ['--test', 'desk.test.mts'], { cwd: folder });
    expect(stdout).toMatch(/^. fail 0$/m);
    expect(stdout).not.toMatch(/^. pass 0$/m);
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', '--types', 'node'];
    const tsc = [
      join(root, 'node_modules/typescript/bin/tsc'),
      ...flags,
      '--allowImportingTsExtensions',
      'desk.test.mts',
    ];
    expect((await run(process.execPath, tsc, { cwd: folder })).stdout).toBe('');
  });
});
