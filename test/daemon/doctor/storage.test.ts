import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { examineStorage } from '../../../src/daemon/doctor/storage.ts';
import { describeWithServer } from '../../servers/describe.ts';
import { openTwo } from '../../state/blob-suite.ts';
import { cleanUp, newFolder } from '../../state/fixtures.ts';

afterEach(cleanUp);

describeWithServer({ servers: 'PostgreSQL' }, 'the storage of payloads', (server) => {
  it('is tested if it is a folder', async () => {
    const payloadsFolder = join(newFolder(), 'mounted');
    const { one, database: stateDatabase } = await openTwo(server(), { payloadsFolder });
    const location = { state: one.folder, stateDatabase };
    expect(await examineStorage(location)).toMatchObject([{ ok: true, message: expect.stringContaining('written') }]);
    renameSync(payloadsFolder, `${payloadsFolder}.away`);
    expect(await examineStorage(location)).toMatchObject([{ ok: false, fix: expect.stringContaining('mount') }]);
  });

  it("isn't tested if it is the database, or if there is no state yet", async () => {
    const { one, database } = await openTwo(server());
    expect(await examineStorage({ state: one.folder, stateDatabase: database })).toEqual([]);
    const none = { ...database, schema: 'none_yet', payloadsFolder: newFolder() };
    expect(await examineStorage({ state: newFolder(), stateDatabase: none })).toEqual([]);
  });
});
