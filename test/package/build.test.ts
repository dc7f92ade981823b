import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

describe('the built package', () => {
  it('runs the demo without a single TypeScript file', async () => {
    await run('npm', ['run', 'build'], { cwd: root });
    const { stdout } = await run(process.execPath, ['dist/src/cli/main.js', 'demo'], { cwd: root });
    expect(stdout).toMatch(/orders +4 887 .* delivered/);
    expect(stdout).toMatch(/orders +4 887 .* unchanged/);
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
    expect(paths.filter((path) => /^(test|bench|\.ci)\/|\.ts$/.test(path))).toEqual([]);
  });
});
