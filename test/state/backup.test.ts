import { existsSync, readdirSync } from 'node:fs';
import { appendFile, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { until } from '../journey/process.ts';
import { adminKey, makeWorld } from '../journey/world.ts';

/** A user with a single job whose payload stays owed, because the destination is unavailable until `repair`. */
async function setUp() {
  const world = await makeWorld();
  const home = await world.home();
  await home.write('rows.csv', 'id,name\n1,first\n');
  const config = (url: string, schedule = '0 0 29 2 *') => ({
    destinations: { main: { url, api_key: adminKey, attempts: 1000, timeout_seconds: 5 } },
    sources: { files: { connector: 'file' } },
    jobs: { orders: { source: 'files', query: 'rows.csv', format: 'csv', target: world.instances.csv, schedule } },
  });
  await home.config(config('http://127.0.0.1:9/api/1.0'));
  const backup = join(home.folder, 'backup');
  const repair = () => home.config(config(world.url));
  return { world, home, backup, repair, shows: () => world.data(world.instances.csv) };
}

const owe = { waitSeconds: 0 };

describe('a backup', () => {
  it('includes owed payloads, so that a state moved with it continues where it stopped', async () => {
    const { home, backup, repair, shows } = await setUp();
    await home.syncHere(owe);
    expect(await home.sluice(['backup', backup])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 payload'),
    });
    expect((await stat(backup)).mode & 0o777).toBe(0o700);
    await rm(join(home.folder, 'state'), { recursive: true });
    await home.write('rows.csv', 'never read again');
    expect((await home.sluice(['restore', backup, '--moved'])).code).toBe(0);
    expect(home.state().outbox).toMatchObject([{ state: 'owed' }]);
    await repair();
    const daemon = home.start(['run']);
    // Asking the service instead would use up the account's requests, so the daemon would have to wait.
    await until('the payload to be delivered', () => daemon.output().includes('payload.delivered'));
    expect(await shows()).toBe('id,name\n1,first\n');
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  });

  it("doesn't cause old data to be sent after it's restored, and its receipts aren't trusted", async () => {
    const { home, backup, repair, shows } = await setUp();
    await repair();
    await home.syncHere();
    await home.write('rows.csv', 'id,name\n2,second\n');
    const { outbox } = home.state();
    expect(outbox).toMatchObject([{ state: 'delivered' }]);
    // The last delivered payload is kept for a rollback, so the backup includes it.
    expect(await home.sluice(['backup', backup])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 payload,'),
    });
    await home.syncHere();
    await home.write('rows.csv', 'id,name\n1,first\n');
    const refused = await home.sluice(['restore', backup]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('STATE_EXISTS') });
    expect((await home.sluice(['restore', backup, '--replace'])).code).toBe(0);
    // According to the restored state, the instance already shows these rows, but it no longer does.
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered' }]);
    expect(await shows()).toBe('id,name\n1,first\n');
    expect(readdirSync(join(home.folder, 'state')).some((name) => name.startsWith('before-'))).toBe(true);
  });

  it('marks its owed payloads as dead on restore if newer data has been sent since', async () => {
    const { home, backup, repair, shows } = await setUp();
    await home.syncHere(owe);
    await home.sluice(['backup', backup]);
    await home.write('rows.csv', 'id,name\n2,second\n');
    await repair();
    await home.syncHere();
    const restored = await home.sluice(['restore', backup, '--replace']);
    expect(restored.stdout).toContain('1 payload that was waiting at that time will not be sent');
    expect(home.state().outbox).toMatchObject([{ state: 'dead', code: 'STATE_RESTORED' }]);
    const daemon = home.start(['run']);
    await until('the daemon to start', () => daemon.output().includes('daemon.started'));
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    expect(await shows()).toBe('id,name\n2,second\n');
  });

  it('can be made repeatedly while a daemon writes, and each copy is consistent', async () => {
    const { home } = await setUp();
    const daemon = home.start(['run']);
    await until('the daemon to start', () => daemon.output().includes('daemon.started'));
    const rounds = [1, 2, 3, 4, 5];
    const writing = (async () => {
      for (const round of rounds) {
        await home.write('rows.csv', `id\n${round}\n`);
        await home.sync({ args: ['--wait', '0'] });
      }
    })();
    for (const round of rounds) {
      const into = join(home.folder, `backup${round}`);
      expect((await home.sluice(['backup', into])).code).toBe(0);
      const db = new SqliteDatabase(join(into, 'sluice.db'), { readOnly: true });
      const owed = db.prepare("select path from outbox where state = 'owed'").all() as { path: string }[];
      db.close();
      for (const { path } of owed) expect(existsSync(join(into, path))).toBe(true);
    }
    await writing;
    expect(await home.sluice(['restore', join(home.folder, 'backup1'), '--replace'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('STATE_IN_USE'),
    });
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect(readdirSync(join(home.folder, 'state')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it("is rejected if its folder isn't empty, or if it was modified or written by a newer version", async () => {
    const { home, backup } = await setUp();
    expect((await home.sluice(['backup', backup])).stderr).toContain('STATE_MISSING');
    await home.syncHere(owe);
    await home.sluice(['backup', backup]);
    expect((await home.sluice(['backup', backup])).stderr).toContain('BACKUP_EXISTS');
    await rm(join(home.folder, 'state'), { recursive: true });
    const database = join(backup, 'sluice.db');
    const whole = await readFile(database);
    await appendFile(database, 'x');
    expect(await home.sluice(['restore', backup])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('BACKUP_BROKEN'),
    });
    await writeFile(database, whole);
    await rm(join(backup, 'backup.json'));
    expect((await home.sluice(['restore', backup])).stderr).toContain('BACKUP_BROKEN');
    expect(existsSync(join(home.folder, 'state', 'sluice.db'))).toBe(false);
  });

  it("written by a newer version doesn't replace an existing state", async () => {
    const { home, backup } = await setUp();
    await home.syncHere(owe);
    const db = new SqliteDatabase(join(home.folder, 'state', 'sluice.db'));
    db.exec("insert into migrations (number, name, at) values (999, 'of the future', 0)");
    db.close();
    expect((await home.sluice(['backup', backup])).code).toBe(0);
    expect((await home.sluice(['status'])).stderr).toContain('STATE_NEWER');
    const elsewhere = JSON.parse(await readFile(join(home.folder, 'sluice.yaml'), 'utf8')) as object;
    await home.config({ ...elsewhere, state: './other' });
    expect(await home.sluice(['restore', backup])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('STATE_NEWER'),
    });
    expect(readdirSync(join(home.folder, 'other'))).toEqual([]);
  });
});
