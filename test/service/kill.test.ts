import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { makeFolder, type Running, start, until } from '../journey/process.ts';
import { fixtures } from './service.ts';
import { Api, makeWriters, randomOf } from './writers.ts';

/** Runs the real command on this folder; resolves when it listens. */
async function serve(folder: string, life: number): Promise<{ service: Running; api: Api }> {
  const ready = join(folder, `ready-${life}.json`);
  const args = ['serve', '--port', '0', '--data', join(folder, 'data'), '--no-limits', '--ready-file', ready];
  const service = start([...args, '--fixtures', join(folder, 'fixtures.json')], { serves: true });
  await until('the service to listen', async () => (await readdir(folder)).includes(`ready-${life}.json`));
  const { url } = JSON.parse(await readFile(ready, 'utf8')) as { url: string };
  return { service, api: new Api(url) };
}

/** The documents in the database and in the folder, after the service has ended. */
async function documentsOf(data: string): Promise<{ known: string[]; there: string[]; check: unknown[] }> {
  const db = new SqliteDatabase(join(data, 'service.db'), { readOnly: true });
  try {
    const known = db
      .prepare('select blob from datasource_instances where blob is not null order by blob')
      .all<{ blob: string }>();
    const check = [db.pragma('integrity_check'), ...db.prepare('pragma foreign_key_check').all()];
    return { known: known.map(({ blob }) => blob), there: (await readdir(join(data, 'documents'))).sort(), check };
  } finally {
    db.close();
  }
}

describe('a service that is killed while fifty clients write', () => {
  it.each([11, 23, 47, 101, 977])(
    'has all confirmed data and no partial data after the next start (seed %i)',
    async (seed) => {
      const random = randomOf(seed);
      const folder = await makeFolder();
      await writeFile(join(folder, 'fixtures.json'), JSON.stringify(fixtures));
      const first = await serve(folder, 1);
      const writers = await makeWriters(first.api, 5, random);
      expect(writers).toHaveLength(50);

      let gone = false;
      const running = writers.map((writer) => writer.run(first.api, () => gone));
      const enough = 50 + random() * 800;
      const answered = (): number => writers.reduce((sum, writer) => sum + writer.answered, 0);
      await Promise.race([until('enough responses', () => answered() >= enough), ...running]);
      await wait(random() * 20);
      gone = true;
      first.service.child.kill('SIGKILL');
      await Promise.all([first.service.ended, ...running]);
      await first.api.close();

      const second = await serve(folder, 2);
      for (const writer of writers) {
        const { shown, allowed } = await writer.seen(second.api);
        expect({ writer: writer.name, shown, allowed }).toEqual({
          writer: writer.name,
          shown: allowed.find((one) => JSON.stringify(one) === JSON.stringify(shown)) ?? allowed[0],
          allowed,
        });
      }
      second.service.child.kill('SIGTERM');
      expect((await second.service.ended).code).toBe(0);
      await second.api.close();
      const { known, there, check } = await documentsOf(join(folder, 'data'));
      expect([check, there]).toEqual([['ok'], known]);
    },
  );
});
