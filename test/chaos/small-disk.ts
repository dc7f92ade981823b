import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { forTest } from '../journey/process.ts';
import type { Stage } from './stage.ts';

/** Mounts a small disk in the place of the state folder, for so many files; false where this machine does not let us. */
export function mountSmall({ home }: Pick<Stage, 'home'>, size: string, files?: number): boolean {
  const folder = join(home.folder, 'state');
  mkdirSync(folder);
  if (!canMount(folder, files === undefined ? size : `${size},nr_inodes=${files}`)) return false;
  forTest(() => void execFileSync('umount', ['-l', folder]));
  return true;
}

function canMount(folder: string, size: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'sluice-chaos', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Why there is no small disk to test on; undefined where there can be one. */
export function noSmallDisk(): string | undefined {
  const folder = '/tmp/sluice-small-disk';
  mkdirSync(folder, { recursive: true });
  if (!canMount(folder, '100k')) return 'this user may not mount a tmpfs';
  execFileSync('umount', ['-l', folder]);
  return undefined;
}

const filler = ({ home }: Pick<Stage, 'home'>): string => join(home.folder, 'state', 'filler');

/** Leaves so many bytes of the small disk; without a number not one page for the state. */
export async function fill(stage: Pick<Stage, 'home'>, left = 0): Promise<void> {
  const { bavail, bsize } = await statfs(join(stage.home.folder, 'state'));
  // Others write meanwhile: what is left of the last page or two does not matter.
  await writeFile(filler(stage), Buffer.alloc(bavail * bsize - left)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOSPC') throw error;
  });
}

/** There is room again. */
export async function clear(stage: Pick<Stage, 'home'>): Promise<void> {
  await rm(filler(stage), { force: true });
}
