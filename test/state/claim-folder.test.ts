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

describe('the folder of a state on a server', () => {
  it('is the first one that is used', async () => {
    const claim = await newState();
    const [folder, other] = [newFolder(), newFolder()];
    await claim(folder);
    await claim(folder);
    await expect(claim(other)).rejects.toMatchObject({ code: 'STATE_FOLDER_UNKNOWN' });
    await claim(folder);
  });

  it('is claimed once by processes that start at the same time', async () => {
    const claim = await newState();
    const folder = newFolder();
    await Promise.all([claim(folder), claim(folder), claim(folder)]);
  });

  it('can be replaced by a person', async () => {
    const claim = await newState();
    const [folder, other] = [newFolder(), newFolder()];
    await claim(folder);
    const { next } = (await claim(other).catch((thrown: { next: string }) => thrown)) as { next: string };
    const [, id, file] = /echo (\S+) > (\S+)$/.exec(next)!;
    writeFileSync(file!, `${id}\n`);
    await claim(other);
  });

  it("isn't shared by two states", async () => {
    const [first, second] = [await newState(), await newState()];
    const folder = newFolder();
    await first(folder);
    await expect(second(folder)).rejects.toMatchObject({ code: 'STATE_FOLDER_TAKEN' });
    await second(newFolder());
    await expect(second(folder)).rejects.toMatchObject({ code: 'STATE_FOLDER_TAKEN' });
  });

  it("isn't a folder with a database of its own", async () => {
    const claim = await newState();
    const folder = newFolder();
    writeFileSync(join(folder, 'sluice.db'), '');
    await expect(claim(folder)).rejects.toMatchObject({ code: 'STATE_FOLDER_TAKEN' });
  });
});
