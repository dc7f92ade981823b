import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeSocketFolder } from '../../src/sdk/ssh/left-behind.ts';

it('creating the folder for sockets deletes only those leftovers of killed processes that are more than a day old', async () => {
  const before = process.env.TMPDIR;
  const temp = await mkdtemp(join(tmpdir(), 'sluice-left-'));
  process.env.TMPDIR = temp;
  onTestFinished(async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(temp, { recursive: true });
  });
  const dead = spawnSync(process.execPath, ['--version']).pid;
  const leave = async (name: string, hours: number): Promise<void> => {
    await mkdir(join(temp, name));
    await writeFile(join(temp, name, 'socket'), '');
    const at = new Date(Date.now() - hours * 3_600_000);
    await utimes(join(temp, name), at, at);
  };
  await leave(`sluice-ssh-${dead}-gone`, 25);
  await leave(`sluice-ssh-${dead}-recent`, 1);
  await leave(`sluice-ssh-${process.pid}-alive`, 25);
  await leave('sluice-ssh-strange', 25);
  const made = await makeSocketFolder();
  expect((await readdir(temp)).sort()).toEqual(
    [`sluice-ssh-${dead}-recent`, `sluice-ssh-${process.pid}-alive`, 'sluice-ssh-strange', basename(made)].sort(),
  );
});
