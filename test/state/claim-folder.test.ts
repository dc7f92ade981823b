import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
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
});
