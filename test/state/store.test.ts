import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { Leases } from '../../src/state/processes/leases.ts';
import { systemProcesses } from '../../src/state/processes/processes.ts';
import { recover } from '../../src/state/recover.ts';
import { openStore } from '../../src/state/store.ts';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newFolder, newStore, Population, spool } from './fixtures.ts';

afterEach(cleanUp);

/** Briefly holds a new file's write lock, as a process does before it switches the file to WAL. */
const holdsNewFile = `
  import { DatabaseSync } from 'node:sqlite';
  const database = new DatabaseSync(process.argv[1]);
  database.exec('begin immediate');
  console.log('held');
  setTimeout(() => (database.exec('rollback'), database.close()), 500);
`;

describe('the store', () => {
  it('is readable only by its owner', async () => {
    const folder = newFolder();
    await newStore({ clock: systemClock, folder });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of ['sluice.db', 'sluice.db-wal', 'sluice.db-shm']) {
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
    }
    expect(statSync(join(folder, 'payloads')).mode & 0o777).toBe(0o700);
  });

  it("waits for another process's lock without blocking the event loop, and continues once it's released", async () => {
    const folder = newFolder();
    const store = await newStore({ clock: systemClock, folder });
    const other = new SqliteDatabase(join(folder, 'sluice.db'));
    other.exec('begin immediate');
    const written = store.settings.set('colour', 'blue');
    const inTransaction = store.transaction((parts) => parts.settings.set('size', 'small'));
    // If the wait were blocking, this line would never run, because the same thread holds the lock.
    await new Promise((resolve) => setTimeout(resolve, 200));
    other.exec('rollback');
    other.close();
    await Promise.all([written, inTransaction]);
    expect([await store.settings.find('colour'), await store.settings.find('size')]).toEqual(['blue', 'small']);
    expect(store.unwritable()).toBeUndefined();
  });

  it('can be opened by many processes and connections at once, one of which migrates it', async () => {
    const folder = newFolder();
    const stores = await Promise.all(Array.from({ length: 5 }, () => newStore({ clock: systemClock, folder })));
    await stores[0]?.settings.set('colour', 'blue');
    for (const store of stores) expect(await store.settings.find('colour')).toBe('blue');
  });

  it('can be opened while another process is creating the same file', async () => {
    const folder = newFolder();
    const holder = spawn(process.execPath, ['--input-type=module', '-e', holdsNewFile, join(folder, 'sluice.db')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(holder, 'close');
    await once(holder.stdout, 'data');
    const store = await newStore({ clock: systemClock, folder });
    expect(await store.settings.find('colour')).toBeUndefined();
    await ended;
  });

  it('rejects a state written by a newer version without changing it', async () => {
    const folder = newFolder();
    await (await openStore(folder, { clock: systemClock })).close();
    const file = join(folder, 'sluice.db');
    const database = new SqliteDatabase(file);
    database.exec("insert into migrations values (99, 'from the future', 0); create table novelty (x)");
    const before = database.prepare('select count(*) as n from sqlite_master').get();
    database.close();
    await expect(openStore(folder, { clock: systemClock })).rejects.toMatchObject({ code: 'STATE_NEWER' });
    const after = new SqliteDatabase(file);
    expect(after.prepare('select count(*) as n from sqlite_master').get()).toEqual(before);
    expect(after.prepare('select max(number) as n from migrations').get()).toEqual({ n: 99 });
    after.close();
  });

  it("reports the expected path of the state folder if the folder can't be used", async () => {
    const folder = join(newFolder(), 'file', 'state');
    writeFileSync(join(folder, '..'), 'in the way');
    const opening = openStore(folder, { clock: systemClock });
    await expect(opening).rejects.toMatchObject({ code: 'STATE_UNUSABLE', seen: folder });
    const nowhere = openStore('/proc/sluice/state', { clock: systemClock });
    await expect(nowhere, 'a folder that allows no subfolders').rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
  });

  it('applies a transaction all or nothing', async () => {
    const store = await newStore({ clock: systemClock });
    const failing = store.transaction(async (parts) => {
      await parts.settings.set('a', '1');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await store.settings.find('a')).toBeUndefined();
  });
});

describe('leases', () => {
  it("have one holder at a time, and become free when they're released", async () => {
    const folder = newFolder();
    const [a, b] = [await newStore({ clock: systemClock, folder }), await newStore({ clock: systemClock, folder })];
    const lease = await a.leases.take('job:orders');
    expect(lease).toBeDefined();
    expect(await a.leases.take('job:orders')).toBeUndefined();
    expect(await b.leases.take('job:orders')).toBeUndefined();
    expect(await b.leases.take('job:others')).toBeDefined();
    expect((await b.leases.holder('job:orders'))?.owner).toBe(a.processes.self);
    await lease?.release();
    expect(await b.leases.take('job:orders')).toBeDefined();
  });

  it("go to the next process as soon as their holder is dead, and the dead holder can't release them", async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const people = new Population();
    const a = await newStore({ clock, folder, processes: people.member('a') });
    const b = await newStore({ clock, folder, processes: people.member('b') });
    const old = await a.leases.take('job:x');
    people.dead.add('a');
    expect(await b.leases.take('job:x')).toBeDefined();
    await old?.release();
    expect((await b.leases.holder('job:x'))?.owner).toBe('b');
  });

  it('can be waited for, are listed while their process is alive, and are deleted afterwards', async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const people = new Population();
    const a = await newStore({ clock, folder, processes: people.member('a') });
    const b = await newStore({ clock, folder, processes: people.member('b') });
    const lease = await a.leases.take('job:x');
    const takenAt = clock.now();
    const began = clock.monotonic();
    expect(await b.leases.wait('job:x', { forMs: 1000 })).toBeUndefined();
    expect(clock.monotonic() - began).toBe(1100);
    const signal = AbortSignal.abort('stopped');
    await expect(b.leases.wait('job:x', { forMs: 1e9, signal })).rejects.toBe('stopped');
    expect(await b.leases.held()).toEqual([{ name: 'job:x', owner: 'a', takenAt }]);
    await lease?.release();
    expect(await b.leases.wait('job:x', { forMs: 1000 })).toBeDefined();
    await a.leases.take('job:y');
    const names = async () => (await a.leases.held()).map(({ name, owner }) => `${name} ${owner}`).toSorted();
    expect(await names()).toEqual(['job:x b', 'job:y a']);
    people.dead.add('b');
    expect(await names()).toEqual(['job:y a']);
    await a.leases.removeDead();
    people.dead.delete('b');
    expect(await names(), 'they are gone').toEqual(['job:y a']);
  });

  it("of a process that can't be checked end when its heartbeats stop", async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const far = { self: 'far', boot: 'boot-1', stateOf: () => 'alive' as const, sharesBoot: () => true };
    const near = { self: 'near', boot: 'boot-1', stateOf: () => 'unknown' as const, sharesBoot: () => true };
    const a = await newStore({ clock, folder, processes: far });
    const b = await newStore({ clock, folder, processes: near });
    await a.leases.take('job:x');
    clock.wall -= 86_400_000;
    clock.advance(25_000);
    expect(await b.leases.take('job:x')).toBeUndefined();
    await a.heartbeats.beat();
    clock.advance(25_000);
    expect(await b.leases.take('job:x')).toBeUndefined();
    clock.advance(10_000);
    expect(await b.leases.take('job:x')).toBeDefined();
  });
});

describe('a process', () => {
  it("deletes dead processes' heartbeats in the transaction that records its own first one", async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const people = new Population();
    const a = await newStore({ clock, folder, processes: people.member('a') });
    const b = await newStore({ clock, folder, processes: people.member('b') });
    const c = await newStore({ clock, folder, processes: people.member('c') });
    await a.heartbeats.beat();
    await b.heartbeats.beat();
    people.dead.add('a');
    await b.heartbeats.beat();
    expect(await b.heartbeats.lastBeat(a.processes.self), 'not its first').toBeDefined();
    await expect(
      c.transaction(async (parts) => {
        await parts.heartbeats.beat();
        throw new Error('the power fails');
      }),
    ).rejects.toThrow('the power fails');
    expect(await b.heartbeats.lastBeat(a.processes.self)).toBeDefined();
    await c.heartbeats.beat();
    expect(await b.heartbeats.lastBeat(a.processes.self)).toBeUndefined();
    expect(await b.heartbeats.lastBeat(b.processes.self)).toBeDefined();
    expect(await b.heartbeats.lastBeat(c.processes.self)).toBeDefined();
  });

  it("counts as alive while it runs, and as dead as soon as it's killed, even before it's reaped", async () => {
    const processes = systemProcesses();
    const script = `
      import { spawn } from 'node:child_process';
      import { systemProcesses } from ${JSON.stringify(join(import.meta.dirname, '../../src/state/processes/processes.ts'))};
      process.stdout.write(systemProcesses().self + '\\n');
      setInterval(() => {}, 1000);
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const owner = line.toString().trim();
    expect(processes.stateOf(owner)).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(processes.stateOf(owner)).toBe('dead');
  });
});

describe('runs', () => {
  it("of a dead process are marked as interrupted, but owed runs and live processes' runs stay unchanged", async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const people = new Population();
    const a = await newStore({ clock, folder, processes: people.member('a') });
    const b = await newStore({ clock, folder, processes: people.member('b') });
    const lost = await a.runs.begin({ job: 'lost', origin: 'schedule' });
    const owed = await a.runs.begin({ job: 'owed', origin: 'schedule' });
    await a.runs.owed(owed, { rows: 1, bytes: 1 });
    const mine = await b.runs.begin({ job: 'mine', origin: 'person' });
    people.dead.add('a');
    expect((await b.runs.interruptOrphans()).map(({ id }) => id)).toEqual([lost]);
    expect(await b.runs.find(lost)).toMatchObject({ state: 'interrupted', code: 'RUN_INTERRUPTED' });
    expect(await b.runs.find(owed)).toMatchObject({ state: 'owed' });
    expect(await b.runs.find(mine)).toMatchObject({ state: 'running' });
  });

  it('of a dead process are closed together with its leases or not at all, and the next start finds those that remain', async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const people = new Population();
    const a = await newStore({ clock, folder, processes: people.member('a') });
    const b = await newStore({ clock, folder, processes: people.member('b') });
    const lost = await a.runs.begin({ job: 'lost', origin: 'schedule' });
    await a.leases.take('job:lost');
    people.dead.add('a');
    const fails = vi.spyOn(Leases.prototype, 'removeDead').mockRejectedValueOnce(new Error('disk I/O error'));
    await expect(recover(b)).rejects.toThrow('disk I/O error');
    fails.mockRestore();
    expect(await b.runs.find(lost)).toMatchObject({ state: 'running' });
    expect((await recover(b)).interrupted.map(({ id }) => id)).toEqual([lost]);
    expect(await b.runs.find(lost)).toMatchObject({ state: 'interrupted' });
    const database = new SqliteDatabase(join(folder, 'sluice.db'));
    expect(database.prepare('select name from leases').all()).toEqual([]);
    database.close();
  });

  it('are listed newest first, by start order, whatever the clock says', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const first = await store.runs.begin({ job: 'j', origin: 'person' });
    clock.wall -= 86_400_000;
    const second = await store.runs.begin({ job: 'j', origin: 'person' });
    await store.runs.finish(second, { state: 'failed', problem: { code: 'X_Y', message: 'no' } });
    expect((await store.runs.history({ job: 'j', limit: 9 })).map(({ id }) => id)).toEqual([second, first]);
    expect(await store.runs.last('j')).toMatchObject({ id: second, state: 'failed', code: 'X_Y' });
    await store.runs.finish(second, { state: 'unchanged' });
    expect(await store.runs.last('j')).toMatchObject({ state: 'failed' });
  });
});

describe('the history', () => {
  it('keeps the newest runs, and all runs that are still owed or dead', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const ids: string[] = [];
    for (let index = 0; index < 9; index++) ids.push(await store.runs.begin({ job: 'j', origin: 'schedule' }));
    await store.runs.owed(ids[0] ?? '', { rows: 1, bytes: 1 });
    for (const id of ids.slice(1)) await store.runs.finish(id, { state: 'failed' });
    await store.runs.prune(6);
    const left = await store.runs.history({ limit: 99 });
    expect(left.map(({ id }) => id)).toEqual([...ids.slice(3).toReversed(), ids[0]]);
    await store.runs.prune(99);
    expect(await store.runs.history({ limit: 99 })).toHaveLength(7);
  });

  it('keeps the last runs of a job that rarely runs, even next to jobs that run all the time', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const begin = async (job: string): Promise<string> => {
      const id = await store.runs.begin({ job, origin: 'schedule' });
      await store.runs.finish(id, { state: 'unchanged' });
      return id;
    };
    const monthly: string[] = [];
    for (let index = 0; index < 7; index++) monthly.push(await begin('monthly'));
    for (let index = 0; index < 20; index++) await begin('often');
    await store.runs.prune(10);
    const of = async (job: string) => (await store.runs.history({ job, limit: 99 })).map(({ id }) => id);
    expect(await of('monthly')).toEqual(monthly.slice(2).toReversed());
    expect(await of('often')).toHaveLength(10);
  });
});

describe('the state', () => {
  it('keeps schedules, targets and settings as they were last written', async () => {
    const folder = newFolder();
    const store = await openStore(folder, { clock: systemClock });
    const row = { job: 'j', schedule: 'UTC 0 * * * *', next_at: 5 };
    await store.schedules.set(row);
    await store.schedules.set({ ...row, next_at: 7 });
    const key = { url: 'http://x/api/1.0', name: 'Orders' };
    await store.targets.remember(key, { datasource: 'd1', instance: 'i1', format: 'csv' });
    await store.close();
    const again = await newStore({ clock: systemClock, folder });
    expect(await again.schedules.all()).toEqual([{ ...row, next_at: 7 }]);
    expect(await again.targets.find(key)).toMatchObject({ datasource: 'd1', instance: 'i1' });
    expect(await again.targets.find({ ...key, clientId: 'c' })).toBeUndefined();
    await again.schedules.forget('j');
    expect(await again.schedules.find('j')).toBeUndefined();
  });

  it('deletes files of ended runs but not of active runs, even if the clock was set back', async () => {
    const folder = newFolder();
    const tomorrow = new SteppingClock(Date.now() + 24 * 60 * 60 * 1000);
    const population = new Population();
    const store = await newStore({ clock: tomorrow, folder, processes: population.member('one') });
    const living = await store.runs.begin({ job: 'a', origin: 'schedule' });
    const ended = await store.runs.begin({ job: 'b', origin: 'schedule' });
    const [mine, garbage] = [living, ended].map((run) => spool(store, { run, text: run, asOf: tomorrow.now() }).path);
    await store.runs.finish(ended, { state: 'failed' });
    const other = await newStore({ clock: tomorrow, folder, processes: population.member('two') });
    expect(await other.payloads.sweep()).toEqual([garbage]);
    expect(statSync(mine!).isFile()).toBe(true);
    expect(other.payloads.folders()).toEqual([join(folder, 'payloads', living)]);
    population.dead.add('one');
    expect(await other.payloads.sweep()).toEqual([mine]);
    expect(other.payloads.folders()).toEqual([]);
  });
});
