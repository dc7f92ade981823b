import { execFile as execFileWithCallback } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';
import { startCacheSweep } from '../../src/daemon/cache-sweep.ts';
import type { SluiceEvents } from '../../src/daemon/events.ts';
import { factsOf } from '../../src/delivery/facts.ts';
import { wholePayload } from '../../src/delivery/whole-payload.ts';
import type { Manifest } from '../../src/kept-rows/manifest.ts';
import { Events } from '../../src/lib/events.ts';
import { quietLog } from '../../src/lib/log.ts';
import { claimFolder } from '../../src/state/claim-folder.ts';
import { claimPayloads } from '../../src/state/claim-payloads.ts';
import { Disk } from '../../src/state/disk.ts';
import { diskUsageOf } from '../../src/state/disk-usage.ts';
import type { StateDatabase } from '../../src/state/engine/state-database.ts';
import { storedPath } from '../../src/state/engine/stored-paths.ts';
import { recover, sweepFiles } from '../../src/state/recover.ts';
import type { Store, StoreOptions } from '../../src/state/store.ts';
import type { OutboxRow } from '../../src/state/tables.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { describeWithServer } from '../servers/describe.ts';
import { cleanUp, newFolder, newStore, oweText, place, spool } from './fixtures.ts';

const execFile = promisify(execFileWithCallback);

afterEach(cleanUp);

const by = { who: 'me', why: '' };

/** The path of a machine's copy of a file that another machine has. */
const copyOf = (path: string, from: Store, to: Store) => path.replace(from.folder, to.folder);

describeWithServer({ servers: 'PostgreSQL' }, 'files of a state that several machines share', (server) => {
  let schemas = 0;
  /** Two machines, each with its own folder, that share a state. */
  const openTwo = async ({ payloadsFolder, ...options }: StoreOptions & { payloadsFolder?: string } = {}) => {
    const { host, port, user, password, database: name } = server();
    schemas += 1;
    const database: StateDatabase = {
      host,
      port,
      user,
      password,
      database: name,
      schema: `blobs_${schemas}`,
      payloadsFolder,
    };
    const open = () => newStore({ folder: newFolder(), database, clock: new SteppingClock(Date.now()), ...options });
    const query = async (text: string, parameters: unknown[] = []) => {
      const client = new pg.Client({ host, port, user, password, database: name });
      await client.connect();
      await client.query(`set search_path to blobs_${schemas}`);
      return (await client.query(text, parameters).finally(() => client.end())).rows;
    };
    return { one: await open(), other: await open(), open, query };
  };
  const owe = async (store: Store, text: string, instance = 'i') => {
    const { owed, payload, run } = await oweText(store, { instance, text, asOf: noon });
    return { row: (await store.outbox.find((owed as { id: number }).id))!, payload, run };
  };

  it('has an owed payload on all machines, even if the one that made it is lost', async () => {
    const { one, other } = await openTwo();
    const { row } = await owe(one, 'rows');
    rmSync(one.folder, { recursive: true });
    expect(await recover(other)).toMatchObject({ damaged: [] });
    const [there] = await other.outbox.inState('owed');
    expect(there).toMatchObject({ id: row.id, path: copyOf(row.path, one, other) });
    expect(await wholePayload(there!, other)).toBe('whole');
    expect(readFileSync(there!.path, 'utf8')).toBe('rows');
  });

  it('fetches a payload again whose copy vanished or was damaged', async () => {
    const { one } = await openTwo();
    const { row } = await owe(one, 'rows');
    for (const lose of [() => rmSync(dirname(row.path), { recursive: true }), () => writeFileSync(row.path, 'rots')]) {
      lose();
      expect(await wholePayload(row, one)).toBe('whole');
      expect(readFileSync(row.path, 'utf8')).toBe('rows');
    }
  });

  it('reports a payload that is missing or damaged everywhere', async () => {
    const { one, other, query } = await openTwo();
    const { row } = await owe(one, 'rows');
    const path = copyOf(row.path, one, other);
    await query("update blob_pieces set bytes = 'rots'");
    expect(await wholePayload({ ...row, path }, other)).toBe('damaged');
    await query("update blob_pieces set bytes = 'row'");
    expect(await wholePayload({ ...row, path }, other)).toBe('damaged');
    await query('delete from blob_pieces');
    expect(await wholePayload({ ...row, path }, other)).toBe('missing');
    expect(existsSync(path)).toBe(false);
    await query('delete from blobs');
    rmSync(row.path);
    expect((await recover(other)).damaged).toMatchObject([{ id: row.id }]);
    expect(await other.outbox.find(row.id)).toMatchObject({ state: 'dead', code: 'PAYLOAD_DAMAGED' });
  });

  it('never owes a payload whose bytes differ from its hash', async () => {
    const { one, query } = await openTwo();
    const run = await one.runs.begin({ job: 'j', origin: 'schedule' });
    const payload = spool(one, { run, text: 'rows', asOf: noon });
    writeFileSync(payload.path, 'rots');
    const owing = { run, job: 'j', destination: place, instance: 'i', payload, mediaType: 'text/csv', always: false };
    await expect(one.outbox.enqueue(owing)).rejects.toMatchObject({ code: 'PAYLOAD_DAMAGED' });
    expect(await one.runs.find(run)).toMatchObject({ state: 'running' });
    expect(await query('select name from blobs')).toEqual([]);
  });

  it('stores files of many pieces, also empty ones', async () => {
    const { one, other, query } = await openTwo();
    for (const text of ['', 'x'.repeat(1024 * 1024), 'large '.repeat(600_000)]) {
      const { row } = await owe(one, text, `i${text.length}`);
      const path = copyOf(row.path, one, other);
      expect(await wholePayload({ ...row, path }, other)).toBe('whole');
      expect(readFileSync(path, 'utf8') === text).toBe(true);
    }
    expect(await query('select count(*)::int as pieces from blob_pieces')).toEqual([{ pieces: 5 }]);
  });

  it('is deleted for all machines when nothing needs it any more', async () => {
    const { one, other, query } = await openTwo();
    const { row } = await owe(one, 'rows');
    expect(await other.payloads.release(copyOf(row.path, one, other))).toBe(false);
    await other.outbox.delivered((await other.outbox.attempt(row.id))!);
    expect(await other.payloads.release(copyOf(row.path, one, other))).toBe(true);
    expect(await query('select name from blobs union all select name from blob_pieces')).toEqual([]);
    expect(existsSync(row.path)).toBe(true);
    utimesSync(row.path, 1, 1);
    await one.runs.finish(row.run, { state: 'delivered' });
    expect(await one.payloads.sweep()).toEqual([row.path]);
    expect(existsSync(row.path)).toBe(false);
  });

  it('can be rolled back to from another machine', async () => {
    const { one, other } = await openTwo({ keep: { payloads: 5, milliseconds: Number.MAX_SAFE_INTEGER } });
    for (const [nth, text] of ['jan', 'feb'].entries()) {
      const { owed } = await oweText(one, { instance: 'i', text, asOf: noon + nth });
      await one.outbox.delivered((await one.outbox.attempt((owed as { id: number }).id))!);
    }
    rmSync(one.payloads.root, { recursive: true });
    const [former] = await other.goodPayloads.former({ url: place.url, instance: 'i' });
    const { row } = await other.goodPayloads.putBack(former!, { job: 'job-i', by });
    expect(await wholePayload(row, other)).toBe('whole');
    expect(readFileSync(row.path, 'utf8')).toBe('jan');
    expect(await other.payloads.forget(1)).toMatchObject({ payloads: 1 });
  });

  it('is swept if its process died while storing it, but not while it lives', async () => {
    const { one, query } = await openTwo();
    const run = await one.runs.begin({ job: 'j', origin: 'schedule' });
    const day = Date.now() - 86_400_000;
    for (const name of [`payloads/${run}/a.csv`, `sets/${run}/1.rows`, 'payloads/dead/b.csv', 'sets/dead/2.rows'])
      await query('insert into blobs values ($1, 9, null, $2)', [name, day]);
    await query('insert into blobs values ($1, 9, null, $2)', ['payloads/new/c.csv', Date.now() + 86_400_000]);
    const { swept } = await recover(one);
    expect(swept.map((path) => path.slice(one.folder.length + 1))).toEqual(['payloads/dead/b.csv', 'sets/dead/2.rows']);
    const left = await query('select name from blobs order by name');
    expect(left.map(({ name }) => name)).toEqual(
      ['payloads/new/c.csv', `payloads/${run}/a.csv`, `sets/${run}/1.rows`].sort(),
    );
  });

  it('has kept rows on all machines, and deletes them on all', async () => {
    const { one, other, query } = await openTwo();
    const keepRows = async (text: string) => {
      const run = await one.runs.begin({ job: 'j', origin: 'schedule' });
      const file = `${run}/1.rows`;
      mkdirSync(join(one.generations.root, run), { recursive: true });
      writeFileSync(join(one.generations.root, file), text);
      const segments = [{ file, rows: 1, bytes: text.length, crc: crc32(text), asOf: noon }];
      const manifest: Manifest = { version: 1, columns: [], next: 0, rows: 1, segments };
      const payload = spool(one, { run, text, asOf: noon });
      const to = { destination: place, instance: 'i', mediaType: 'text/csv', always: false };
      await one.outbox.enqueue({ run, job: 'j', payload, ...to, generation: { reading: 'r', shape: 's', manifest } });
      return segments;
    };
    const first = await keepRows('kept');
    const path = join(other.generations.root, first[0]!.file);
    await other.generations.fetch(first);
    expect(readFileSync(path, 'utf8')).toBe('kept');
    writeFileSync(path, 'rots');
    await other.generations.fetch(first);
    expect(readFileSync(path, 'utf8')).toBe('kept');
    await keepRows('more');
    await keepRows('most');
    await other.generations.prune('j');
    expect(existsSync(path)).toBe(false);
    expect(await query("select name from blobs where name like 'sets/%'")).toHaveLength(2);
  });

  it('never keeps rows whose file is lost', async () => {
    const { one } = await openTwo();
    const run = await one.runs.begin({ job: 'j', origin: 'schedule' });
    const segments = [{ file: `${run}/1.rows`, rows: 1, bytes: 1, crc: 0, asOf: noon }];
    const manifest: Manifest = { version: 1, columns: [], next: 0, rows: 1, segments };
    const kept = { job: 'j', run, reading: 'r', shape: 's', manifest, watermark: undefined };
    await expect(one.generations.keep(kept)).rejects.toMatchObject({ code: 'SET_DAMAGED' });
    const backfill = { job: 'j', reading: 'r', lower: '1', upper: '2', chunk: '', reached: '2', begunAt: noon };
    const staged = { id: 'b', columns: [], next: 0, segments };
    await expect(one.backfills.set({ ...backfill, staged })).rejects.toMatchObject({ code: 'SET_DAMAGED' });
  });

  it('deletes copies that are not used, and counts blobs against the disk limit', async () => {
    const { one, other } = await openTwo({ keep: { payloads: 5, milliseconds: Number.MAX_SAFE_INTEGER } });
    const rows: OutboxRow[] = [];
    for (const nth of [1, 2, 3]) {
      const { row, run } = await owe(one, `${nth}`.repeat(400_000), `i${nth}`);
      await one.outbox.delivered((await one.outbox.attempt(row.id))!);
      await one.runs.finish(run, { state: 'delivered' });
      rows.push(row);
    }
    const owed = await owe(one, 'owed', 'i4');
    for (const { path } of [...rows, owed.row]) utimesSync(path, 1, 1);
    const forgot = vi.fn();
    const disk = (store: Store) => new Disk({ store, limits: { limitBytes: 2_000_000, freeBytes: 0 }, forgot });
    await disk(one).claim(100_000);
    expect(
      [...rows, owed.row].map(({ path }) => existsSync(path)),
      'all can be fetched',
    ).toEqual(Array(4).fill(false));
    expect(forgot).not.toHaveBeenCalled();
    expect(await wholePayload(owed.row, one)).toBe('whole');
    expect(await diskUsageOf(one)).toMatchObject([
      { kind: 'kept', files: 3, bytes: 1_200_000 },
      { kind: 'owed', files: 2 },
    ]);
    await disk(other).claim(1_500_000);
    expect(forgot).toHaveBeenCalledExactlyOnceWith({ payloads: 3, bytes: 1_200_000 });
    await expect(disk(other).claim(2_000_000)).rejects.toMatchObject({ code: 'DISK_LIMIT' });
    expect(await wholePayload(owed.row, one)).toBe('whole');
  });

  it('has a cache that a daemon sweeps regularly', async () => {
    const { one, other } = await openTwo();
    const { row, run } = await owe(one, 'rows');
    await other.outbox.delivered((await other.outbox.attempt(row.id))!);
    await other.payloads.release(copyOf(row.path, one, other));
    await one.runs.finish(run, { state: 'delivered' });
    utimesSync(row.path, 1, 1);
    const [events, clock] = [new Events<SluiceEvents>(), new SteppingClock(Date.now())];
    const stop = startCacheSweep({ store: one, events, clock, log: quietLog });
    const finish = () => events.emit('payload.delivered', { ...factsOf(row), attempts: 1, milliseconds: 1 });
    finish();
    expect(existsSync(row.path)).toBe(true);
    clock.advance(3_600_000);
    finish();
    await expect.poll(() => existsSync(row.path)).toBe(false);
    stop();
  });

  it('can be in a folder that all machines mount', async () => {
    const payloadsFolder = join(newFolder(), 'mounted');
    const { one, other, open, query } = await openTwo({ payloadsFolder });
    const claim = async (store: Store) => {
      await claimFolder(store);
      await claimPayloads(store, { payloadsFolder });
    };
    await claim(one);
    const large = 'large '.repeat(300_000);
    const { row, run } = await owe(one, large);
    expect(await query('select 1 from blob_pieces')).toEqual([]);
    rmSync(one.folder, { recursive: true });
    await claim(other);
    const there = { ...row, path: copyOf(row.path, one, other) };
    expect(await wholePayload(there, other)).toBe('whole');
    expect(readFileSync(there.path, 'utf8') === large).toBe(true);
    expect(await query('select sha256 = $1 as same from blobs', [row.sha256])).toEqual([{ same: true }]);

    rmSync(there.path);
    renameSync(payloadsFolder, `${payloadsFolder}.away`);
    await expect(wholePayload(there, other)).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    await expect(claim(await open())).rejects.toMatchObject({ code: 'PAYLOADS_ELSEWHERE' });
    await expect(owe(other, 'more', 'i2')).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    renameSync(`${payloadsFolder}.away`, payloadsFolder);
    await expect(claimPayloads(other, {})).rejects.toMatchObject({ code: 'PAYLOADS_ELSEWHERE' });

    const blob = join(payloadsFolder, storedPath(one.folder, row.path));
    writeFileSync(blob, 'rots');
    expect(await wholePayload(there, other)).toBe('damaged');
    await other.outbox.delivered((await other.outbox.attempt(row.id))!);
    expect(await other.payloads.release(there.path)).toBe(true);
    expect(await wholePayload(there, other)).toBe('missing');
    await other.runs.finish(run, { state: 'delivered' });
    await sweepFiles(other);
    expect(existsSync(blob)).toBe(false);
    expect(await query('select name from blobs where sha256 is not null or stored_at = 0')).toEqual([]);
  });

  it('never share a folder with another state', async () => {
    const payloadsFolder = newFolder();
    for (const [nth, { one }] of [await openTwo({ payloadsFolder }), await openTwo({ payloadsFolder })].entries()) {
      await claimFolder(one);
      const claimed = claimPayloads(one, { payloadsFolder });
      if (nth === 0) await claimed;
      else await expect(claimed).rejects.toMatchObject({ code: 'STATE_FOLDER_TAKEN' });
    }
  });

  it('needs no more memory if it is large', async () => {
    const { one } = await openTwo();
    const folder = newFolder();
    const { host, port, user, password, database } = server();
    const location = JSON.stringify({ host, port, user, password, database, schema: `blobs_${schemas}` });
    const peakOf = async (megabytes: number) => {
      const child = join(import.meta.dirname, 'blobs-child.ts');
      const { stdout } = await execFile(process.execPath, [child, location, folder, String(megabytes)]);
      expect(JSON.parse(stdout)).toMatchObject({ state: 'whole' });
      return (JSON.parse(stdout) as { peak: number }).peak;
    };
    const [small, large] = [await peakOf(8), await peakOf(160)];
    expect((large - small) / 1024 / 1024).toBeLessThan(80);
    await one.close();
  });
});
