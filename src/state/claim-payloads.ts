import { Problem } from '../lib/problem.ts';
import type { Store } from './store.ts';

/** The setting that records where blobs are stored. */
const placeName = 'payloads.place';

/**
 * Ensures that the payloads of a state in a database are stored where the config says. Anywhere else, or in a folder
 * that isn't mounted, they would be considered lost (`PAYLOADS_ELSEWHERE`).
 */
export async function claimPayloads({ settings, blobs }: Pick<Store, 'settings' | 'blobs'>): Promise<void> {
  const { backend } = blobs;
  if (backend === undefined) return;
  const { storage, db } = backend;
  const known = (await settings.find(placeName)) ?? 'the database';
  const isEmpty = (await blobs.all()).length === 0;
  if (!isEmpty && known !== storage.place) throw elsewhere(`in ${known}`);
  const isClaimed = await storage.claims?.isClaimed(db);
  if (!isEmpty && isClaimed === false) throw elsewhere(`none of them in ${storage.label}`);
  if (isClaimed === false) await storage.claims?.claim(db);
  if (known !== storage.place) await settings.set(placeName, storage.place);
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
