import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { start } from '../../journey/process.ts';
import { makeFolder, type Program } from '../../journey/world.ts';

const run = promisify(execFile);
const installed = inject('installed');

describe.each(inject('nodes'))('the installed package under Node $major', ({ path: node }) => {
  const program: Program = { node, door: join(installed, 'src/cli/sluice.js') };

  it('runs the demo in an empty folder and leaves no files there', async () => {
    const cwd = await makeFolder();
    const { code, stdout, stderr } = await start(['demo'], { program, cwd }).ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/orders +4,887 .* delivered/);
    expect(stdout).toMatch(/orders +4,887 .* unchanged/);
    expect(await readdir(cwd)).toEqual([]);
  });

  it("prints the version, the commit and the commit's time", async () => {
    const { stdout } = await start(['--version'], { program }).ended;
    const { stdout: commit } = await run('git', ['rev-parse', 'HEAD']).catch(() => ({ stdout: '' }));
    if (commit === '') expect(stdout).toContain('commit unknown');
    else
      expect(stdout).toMatch(
        new RegExp(`^\\d+\\.\\d+\\.\\d+ \\(commit ${commit.slice(0, 12)}(\\+changes)? of \\d{4}-`),
      );
  });
});
