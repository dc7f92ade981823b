import { createHash } from 'node:crypto';
import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { forSuite } from '../journey/world.ts';
import { randomOf } from './seeds.ts';
import { dieAt, openTheatre, type Stage, setStage, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

const pageBytes = 4096;

/** What may happen to a database on a failing disk. */
const damages: Record<string, (file: string) => Promise<void>> = {
  'has garbled pages': async (file) => {
    const bytes = await readFile(file);
    const random = randomOf(1);
    for (let at = pageBytes; at < bytes.length; at += 7) bytes[at] = Math.floor(random() * 256);
    await writeFile(file, bytes);
  },
  'has a garbled first page': async (file) => {
    const bytes = await readFile(file);
    bytes.fill(0x5a, 100, pageBytes);
    await writeFile(file, bytes);
  },
  'is cut off': (file) => truncate(file, 10_000),
  'is something else': (file) => writeFile(file, Buffer.alloc(20_000, 'not a database ')),
  'is empty': (file) => truncate(file, 0),
  'is gone': (file) => rm(file),
};

/** A user with a backup, and with a payload that became owed after it; the source no longer has the data of either. */
async function owing(): Promise<Stage & { readonly backup: string; readonly file: string }> {
  const stage = await setStage(theatre);
  const { upstream, home, oracle } = stage;
  upstream.prunes = true;
  upstream.advance();
  await oracle.ended(await home.syncHere());
  const backup = join(home.folder, 'backup');
  expect(await home.sluice(['backup', backup])).toMatchObject({ code: 0 });
  upstream.advance();
  await oracle.ended(await home.sync(dieAt(stage, 'say payload.owed #1')));
  const file = join(home.folder, 'state', 'sluice.db');
  // This also writes the killed process's WAL to the database file.
  expect(home.state().outbox).toHaveLength(2);
  return { ...stage, backup, file };
}

describe('a state whose database', () => {
  it.for(Object.entries(damages))(
    "%s is rejected with instructions for recovery, and isn't changed",
    async ([, damage]) => {
      const stage = await owing();
      const { home, file, backup, oracle, upstream } = stage;
      await damage(file);
      const before = await shapeOf(stage);
      for (const args of [['sync'], ['backup', join(home.folder, 'another')]]) {
        const { code, stderr } = await home.sluice(args);
        expect({ args, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('STATE_DAMAGED') });
        expect(stderr).toContain('sluice restore');
        expect(stderr).not.toContain('ERR_SQLITE_ERROR');
      }
      expect(await shapeOf(stage)).toEqual(before);

      expect(await home.sluice(['restore', backup, '--replace'])).toMatchObject({ code: 0, stderr: '' });
      upstream.advance();
      expect(await home.syncHere()).toMatchObject({ code: 0, jobs: [{ state: 'delivered' }] });
      expect(await oracle.look()).toBe(3);
    },
  );
});

/** The payloads, and the database byte for byte while it is one: an empty file gets a header when it's opened. */
async function shapeOf({ home, file }: Stage & { readonly file: string }): Promise<unknown> {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0));
  const hash = bytes.length <= pageBytes ? 'none' : createHash('sha256').update(bytes).digest('hex');
  return { hash, payloads: home.payloads() };
}
