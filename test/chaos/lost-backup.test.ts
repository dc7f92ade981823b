import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { adminKey, makeWorld } from '../journey/world.ts';

/** Paths that a process made durable, according to strace. */
function syncedIn(log: string): Set<string> {
  const calls = readFileSync(log, 'utf8').matchAll(/f(?:data)?sync\(\d+<([^>]+)>/g);
  return new Set([...calls].map((match) => match[1]!));
}

/** A folder, and everything in it. */
function treeOf(folder: string): string[] {
  const inside = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return [folder, ...inside.map((name) => join(folder, name))];
}

it('a backup or restore reports success only once every byte would survive a power failure', async () => {
  const world = await makeWorld();
  const home = await world.home();
  await home.write('orders.csv', 'id\n1\n');
  await home.config({
    version: 1,
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: {
      orders: {
        source: 'files',
        query: { path: 'orders.csv' },
        format: 'csv',
        target: { instance: world.instances.csv },
      },
    },
  });
  await home.sync();
  const log = join(home.folder, 'sync.log');
  const watched = { under: ['strace', '-D', '-f', '-qqq', '-y', '-s', '1', '-e', 'trace=fsync,fdatasync', '-o', log] };

  const copy = join(home.folder, 'copies', 'first');
  expect(await home.sluice(['backup', copy], watched)).toMatchObject({ code: 0 });
  const backup = treeOf(copy);
  expect(backup.some((path) => path.includes('/payloads/'))).toBe(true);
  const synced = syncedIn(log);
  expect([home.folder, dirname(copy), ...backup].filter((path) => !synced.has(path))).toEqual([]);

  expect(await home.sluice(['restore', copy, '--replace'], watched)).toMatchObject({ code: 0 });
  const state = join(home.folder, 'state');
  const restored = new Set([...syncedIn(log)].map((path) => path.replace(/\/state\/\.restore-\w+/, '/state')));
  const owed = treeOf(join(state, 'payloads'));
  expect(owed.length).toBeGreaterThan(1);
  expect([state, join(state, 'sluice.db'), ...owed].filter((path) => !restored.has(path))).toEqual([]);
});
