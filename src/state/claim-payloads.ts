import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../lib/make-folder.ts';
import { Problem } from '../lib/problem.ts';
import { markerName } from './blobs/folder-storage.ts';
import { idIn, idName, taken } from './claim-folder.ts';
import type { StateDatabase } from './engine/state-database.ts';
import type { Store } from './store.ts';

/** The setting that records where blobs are stored. */
const placeName = 'payloads.place';

/**
 * Ensures that the payloads of a state in a database are stored where the config says. Anywhere else, or in a folder
 * that isn't mounted, they would be considered lost (`PAYLOADS_ELSEWHERE`).
 */
export async function claimPayloads(
  { settings, blobs }: Pick<Store, 'settings' | 'blobs'>,
  { payloadsFolder }: Pick<StateDatabase, 'payloadsFolder'>,
): Promise<void> {
  const place = payloadsFolder === undefined ? 'the database' : 'a folder';
  const marker = payloadsFolder === undefined ? undefined : join(payloadsFolder, markerName);
  const known = (await settings.find(placeName)) ?? 'the database';
  const isEmpty = (await blobs.all()).length === 0;
  if (!isEmpty && known !== place) throw elsewhere(`in ${known}`);
  if (marker !== undefined && !isEmpty && !existsSync(marker)) throw elsewhere(`no file ${marker}`);
  if (payloadsFolder !== undefined && marker !== undefined) {
    makeFolder(payloadsFolder, 0o700, { lasting: true });
    const id = (await settings.find(idName)) ?? '';
    if (idIn(marker, id) !== id) throw taken(payloadsFolder, markerName);
  }
  if (known !== place) await settings.set(placeName, place);
}

function elsewhere(seen: string): Problem {
  return new Problem({
    code: 'PAYLOADS_ELSEWHERE',
    family: 'config',
    message: "The state's payloads are not where the config says",
    seen,
    next: 'correct "payloads" in the config, or mount the folder; to move the payloads, run "sluice backup", then "sluice restore --moved"',
  });
}
