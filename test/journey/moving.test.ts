import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { describeWithServer } from '../servers/describe.ts';
import type { TestServer } from '../servers/server.ts';
import type { Home } from './home.ts';
import { adminKey, forSuite, makeWorld, until, type World } from './world.ts';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
});

const env = { SLUICE_KEY: 'key-for-logins-'.repeat(3) };
let states = 0;

interface Mover {
  readonly home: Home;
  readonly instance: string;
  /** Sets where the state is, and whether the destination can be reached. */
  use(where: { readonly state: string; readonly cache?: string }, isUp?: boolean): Promise<unknown>;
  /** Runs a command; its output must not contain the database's password. */
  sluice(...args: string[]): ReturnType<Home['sluice']>;
  write(rows: string): Promise<unknown>;
}

/** A user with one job, which keeps its rows. */
async function openMover(server: TestServer): Promise<Mover> {
  const [home, instance] = [await world.home(), await world.instance('csv')];
  const job = {
    source: 'files',
    query: { path: join(home.folder, 'orders.csv') },
    format: 'csv',
    write: { disposition: 'merge', key: 'id' },
    target: instance,
  };
  return {
    home,
    instance,
    use: (where, isUp = true) =>
      home.config({
        ...where,
        destinations: {
          main: { url: isUp ? world.url : 'http://127.0.0.1:9/api/1.0', api_key: adminKey, attempts: 1000 },
        },
        sources: { files: { connector: 'file' } },
        jobs: { orders: job },
      }),
    sluice: async (...args) => {
      const ended = await home.sluice(args, { env });
      expect(`${ended.stdout}${ended.stderr}`).not.toContain(server.password);
      return ended;
    },
    write: (rows) => home.write('orders.csv', rows),
  };
}

const schemaOn = (server: TestServer) => ({ state: `${server.url}?schema=mover_${states++}` });

describeWithServer({ servers: 'PostgreSQL' }, 'a state that is moved', (server) => {
  it('to a server and back still owes what it owed, and keeps its rows and its history', async () => {
    const { home, instance, use, sluice, write } = await openMover(server());
    await use({ state: './state' });
    await write('id,name\n1,one\n');
    expect((await sluice('sync')).code).toBe(0);
    await use({ state: './state' }, false);
    await write('id,name\n2,two\n');
    await sluice('sync', '--wait', '0');
    expect(await sluice('backup', join(home.folder, 'first'))).toMatchObject({ code: 0 });

    const there = schemaOn(server());
    await use(there);
    await write('never read again');
    const restored = await sluice('restore', join(home.folder, 'first'), '--moved');
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('Restored postgres://127.0.0.1') });
    expect((await sluice('status')).stdout).toContain('orders');
    const daemon = home.start(['run'], { env });
    await until('the payload to be delivered', () => daemon.output().includes('payload.delivered'));
    expect(await world.data(instance)).toBe('id,name\n1,one\n2,two\n');
    const refused = await sluice('restore', join(home.folder, 'first'), '--replace');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('STATE_IN_USE') });
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    expect((await sluice('restore', join(home.folder, 'first'))).stderr).toContain('STATE_EXISTS');
    await write('id,name\n3,three\n');
    expect((await sluice('sync')).code).toBe(0);
    expect(await sluice('backup', join(home.folder, 'second'))).toMatchObject({ code: 0 });

    await use({ state: './back' });
    expect(await sluice('restore', join(home.folder, 'second'), '--moved')).toMatchObject({ code: 0 });
    expect(await sluice('sync')).toMatchObject({ code: 0, stdout: expect.stringContaining('unchanged') });
    const runs = JSON.parse((await sluice('history', 'orders', '--json')).stdout) as { state: string }[];
    expect(runs.map(({ state }) => state)).toEqual(['unchanged', 'delivered', 'delivered', 'delivered']);
    await write('id,name\n4,four\n');
    expect((await sluice('sync')).code).toBe(0);
    expect(await world.data(instance)).toBe('id,name\n1,one\n2,two\n3,three\n4,four\n');
    expect((await sluice('rollback', 'orders')).code).toBe(0);
    expect(await world.data(instance)).toBe('id,name\n1,one\n2,two\n3,three\n');
    expect(await world.uploads(instance)).toHaveLength(5);
  });

  it('from a server while it is written to is consistent', async () => {
    const { home, use, sluice, write } = await openMover(server());
    await use(schemaOn(server()), false);
    const rounds = [1, 2, 3];
    expect((await sluice('backup', join(home.folder, 'none'))).stderr).toContain('STATE_MISSING');
    await write('id\n0\n');
    await sluice('sync', '--wait', '0');
    const writing = (async () => {
      for (const round of rounds) {
        await write(`id\n${round}\n`);
        await sluice('sync', '--wait', '0');
      }
    })();
    for (const round of rounds) {
      const into = join(home.folder, `backup${round}`);
      expect(await sluice('backup', into)).toMatchObject({ code: 0 });
      const db = new SqliteDatabase(join(into, 'sluice.db'), { readOnly: true });
      const owed = db.prepare("select path from outbox where state = 'owed'").all<{ path: string }>();
      db.close();
      expect(owed).toHaveLength(1);
      expect(existsSync(join(into, owed[0]!.path))).toBe(true);
    }
    await writing;
  });

  it('sends its data again if it was returned to an earlier time', async () => {
    const { home, instance, use, sluice, write } = await openMover(server());
    await use(schemaOn(server()));
    expect((await sluice('restore', '--distrust')).stderr).toContain('STATE_MISSING');
    await write('id\n1\n');
    expect((await sluice('sync')).code).toBe(0);
    expect(await sluice('restore', '--distrust')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Every job sends its data again'),
    });
    expect(await sluice('sync')).toMatchObject({ code: 0, stdout: expect.stringContaining('delivered') });
    expect(await world.uploads(instance)).toHaveLength(2);
    const worker = home.start(['run', '--work-only'], { env });
    await until('the worker to start', () => worker.output().includes('daemon.started'));
    expect((await sluice('restore', '--distrust')).stderr).toContain('STATE_IN_USE');
    worker.child.kill('SIGTERM');
    await worker.ended;
    for (const args of [['restore'], ['restore', 'folder', '--distrust']])
      expect(await sluice(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining('CLI_OPTION') });
  });
});
