import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { forTest } from '../journey/process.ts';
import type { Stage } from './stage.ts';

/**
 * Mounts a small disk at the state folder, limited to `files` files if given. Returns false if this machine doesn't
 * allow that.
 */
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

/** Why this machine can't have a small disk; undefined if it can. */
export function noSmallDisk(): string | undefined {
  const folder = '/tmp/sluice-small-disk';
  mkdirSync(folder, { recursive: true });
  if (!canMount(folder, '100k')) return 'this user may not mount a tmpfs';
  execFileSync('umount', ['-l', folder]);
  return undefined;
}

const filler = ({ home }: Pick<Stage, 'home'>): string => join(home.folder, 'state', 'filler');

/** Leaves this many bytes free on the small disk; without a number, not even a page for the state. */
export async function fill(stage: Pick<Stage, 'home'>, left = 0): Promise<void> {
  const { bavail, bsize } = await statfs(join(stage.home.folder, 'state'));
  // Other processes write in the meantime, so a page or two of difference doesn't matter.
  await writeFile(filler(stage), Buffer.alloc(bavail * bsize - left)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOSPC') throw error;
  });
}

/** Frees the space again. */
export async function clear(stage: Pick<Stage, 'home'>): Promise<void> {
  await rm(filler(stage), { force: true });
}
