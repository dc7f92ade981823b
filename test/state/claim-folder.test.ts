import { chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FolderStorage } from '../../src/state/blobs/folder-storage.ts';
import { claimFolder } from '../../src/state/claim-folder.ts';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newFolder, newStore } from './fixtures.ts';

afterEach(cleanUp);

/** Claims folders for a new state, whose database isn't in any of them. */
async function newState() {
  const { settings } = await newStore({ clock: new SteppingClock() });
  return (folder: string) => claimFolder({ folder, settings });
}

describe('the folders of a state on a server', () => {
  it('can be any that belong to no state, as each machine has its own', async () => {
    const claim = await newState();
    const [folder, other] = [newFolder(), newFolder()];
    for (const one of [folder, other, folder]) await claim(one);
  });

  it('are claimed once by processes that start at the same time', async () => {
    const claim = await newState();
    const folder = newFolder();
    await Promise.all([claim(folder), claim(folder), claim(folder)]);
  });

  it("aren't shared by two states", async () => {
    const [first, second] = [await newState(), await newState()];
    const folder = newFolder();
    await first(folder);
    await expect(second(folder)).rejects.toMatchObject({ code: 'STATE_FOLDER_TAKEN' });
    await second(newFolder());
    await expect(second(folder)).rejects.toMatchObject({ code: 'STATE_FOLDER_TAKEN' });
  });

  it("don't contain a database of their own", async () => {
    const claim = await newState();
    const folder = newFolder();
    writeFileSync(join(folder, 'sluice.db'), '');
    await expect(claim(folder)).rejects.toMatchObject({ code: 'STATE_FOLDER_TAKEN' });
  });

  // Only root can create a file in another user's folder.
  it.runIf(process.getuid!() === 0)('stay readable for their owner if root claims them', async () => {
    const claim = await newState();
    const folder = newFolder();
    chownSync(folder, 12_345, 12_345);
    await claim(folder);
    expect(statSync(join(folder, 'state.id')).uid).toBe(12_345);
    expect(readdirSync(folder)).toEqual(['state.id']);
  });

  it("cause a config error that names the folder if their ID can't be read or written", async () => {
    const claim = await newState();
    const folder = newFolder();
    mkdirSync(join(folder, 'state.id'));
    await expect(claim(folder)).rejects.toMatchObject({
      code: 'STATE_UNUSABLE',
      seen: folder,
      message: expect.stringContaining('The cache folder cannot be used: '),
    });
    writeFileSync(join(folder, 'file'), '');
    const storage = new FolderStorage(join(folder, 'file', 'payloads'), async () => 'id');
    await expect(storage.claims.claim(undefined as never)).rejects.toMatchObject({
      code: 'STATE_UNUSABLE',
      message: expect.stringContaining('The payloads folder cannot be used: '),
    });
  });
});
