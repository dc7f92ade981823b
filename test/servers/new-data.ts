import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ServerFolder } from './server.ts';

/** The path of a server's data in its folder. */
export const dataIn = (folder: ServerFolder): string => join(folder.path, 'data');

/**
 * Fills a folder with a new server's data. Creating data takes more CPU time than starting the server, so it's created
 * once in a test run and then copied. If files begin at the same time, each may create the data; one of the results is
 * kept.
 */
export async function addNewData(kind: string, folder: ServerFolder, make: () => Promise<void>): Promise<void> {
  const shared = process.env.SLUICE_TEST_FOLDER;
  if (shared === undefined) return make();
  const kept = join(shared, kind);
  if (existsSync(kept)) return folder.run('cp', ['-a', kept, dataIn(folder)], { as: 'us' });
  await make();
  const own = `${kept}.${basename(folder.path)}`;
  await folder.run('cp', ['-a', dataIn(folder), own], { as: 'us' });
  await rename(own, kept).catch(() => rm(own, { recursive: true }));
}
