import { chownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adminKey, makeWorld } from './world.ts';

/** If the tests run as root, a service user; otherwise the current user, and no file changes its owner. */
const service = process.getuid!() === 0 ? 12_345 : process.getuid!();

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
    expect(await home.sluice(['backup', backup])).toMatchObject({ code: 0 });
    expect(await home.sluice(['restore', backup, '--replace'])).toMatchObject({ code: 0 });
    expect(ownersIn(state)).toEqual(new Set([service]));
  });
});
