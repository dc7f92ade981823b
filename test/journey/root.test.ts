import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { backUp } from '../../src/state/backup/backup.ts';
import { openStore } from '../../src/state/store.ts';
import { forTest, makeFolder } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

/** If the tests run as root, a service user; otherwise the current user, and no file changes its owner. */
const service = process.getuid!() === 0 ? 12_345 : process.getuid!();

const dayMs = 86_400_000;

const ownersIn = (folder: string) =>
  new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(folder, name)).uid));

describe("commands that root runs on a service's state", () => {
  it('leave payloads, kept rows and a restored state readable for the service', async () => {
    const world = await makeWorld();
    const home = await world.home();
    const state = join(home.folder, 'state');
    mkdirSync(state, { mode: 0o700 });
    chownSync(state, service, service);
    await home.write('rows.csv', 'id,name\n1,a\n');
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { files: { connector: 'file' } },
      keep: { payloads: 3 },
      jobs: {
        orders: { source: 'files', query: 'rows.csv', format: 'csv', target: world.instances.csv },
        merged: {
          source: 'files',
          query: 'rows.csv',
          write: { disposition: 'merge', key: 'id' },
          format: 'json',
          target: world.instances.json,
        },
      },
    });
    expect(await home.sync()).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(state, { recursive: true })).toEqual(
      expect.arrayContaining([expect.stringMatching(/^sets\/.*\.rows$/), expect.stringMatching(/^payloads\/.*\.csv$/)]),
    );
    expect(ownersIn(state)).toEqual(new Set([service]));
    const backup = join(home.folder, 'backup');
    mkdirSync(backup, { mode: 0o700 });
    chownSync(backup, service, service);
    expect(await home.sluice(['backup', backup])).toMatchObject({ code: 0 });
    expect(ownersIn(backup)).toEqual(new Set([service]));
    expect(await home.sluice(['restore', backup, '--replace'])).toMatchObject({ code: 0 });
    expect(ownersIn(state)).toEqual(new Set([service]));
  });

  it("don't prevent the service's own backups if one was killed", async () => {
    const state = await makeFolder(forTest);
    await (await openStore(state, { clock: systemClock })).close();
    // If the tests run as root, only root can delete this folder; otherwise, no user can.
    const left = join(state, '.backup-killed', 'payloads');
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, 'rows.csv'), '');
    chmodSync(left, 0);
    onTestFinished(() => chmodSync(left, 0o700));
    for (const name of ['', 'sluice.db', 'payloads']) chownSync(join(state, name), service, service);
    await asService(() => backUp({ state }, join(state, 'backup'), Date.now() + 2 * dayMs));
    expect(readdirSync(join(state, 'backup'))).toContain('backup.json');
    expect(existsSync(left)).toBe(true);
  });
});

async function asService(task: () => Promise<unknown>): Promise<void> {
  const user = process.geteuid!();
  process.seteuid!(service);
  try {
    await task();
  } finally {
    process.seteuid!(user);
  }
}
