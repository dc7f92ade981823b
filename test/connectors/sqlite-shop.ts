import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';

/** A SQLite file for the tests of this suite, in a folder of its own. Call this inside `describe`. */
export function sqliteShop() {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-shop-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  return {
    source: () => ({ driver: 'sqlite', file: 'shop.sqlite' }),
    folder: () => folder,
    async run(sql: string) {
      const file = new SqliteDatabase(join(folder, 'shop.sqlite'));
      file.exec(sql);
      file.close();
    },
  };
}
