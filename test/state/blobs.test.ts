import { existsSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startCacheSweep } from '../../src/daemon/cache-sweep.ts';
import type { SluiceEvents } from '../../src/daemon/events.ts';
import { factsOf } from '../../src/delivery/facts.ts';
import { wholePayload } from '../../src/delivery/whole-payload.ts';
import type { Manifest } from '../../src/kept-rows/manifest.ts';
import { Events } from '../../src/lib/events.ts';
import { filesBelow } from '../../src/lib/files-below.ts';
import { quietLog } from '../../src/lib/log.ts';
import { claimPayloads } from '../../src/state/claim-payloads.ts';
import { Disk, type DiskLimits } from '../../src/state/disk.ts';
import { diskUsageOf } from '../../src/state/disk-usage.ts';
import { storedPath } from '../../src/state/engine/stored-paths.ts';
import { recover, sweepFiles } from '../../src/state/recover.ts';
import type { Store, StoreOptions } from '../../src/state/store.ts';
import type { OutboxRow } from '../../src/state/tables.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { describeWithServer } from '../servers/describe.ts';
import { type BlobPlace, copyOf, openTwo, owe, testBlobs } from './blob-suite.ts';
import { cleanUp, newFolder, newStore } from './fixtures.ts';

afterEach(cleanUp);

const inDatabase: BlobPlace = {
  options: {},
  async damage(query, text) {
    if (text === undefined) await query('delete from blob_pieces');
    else await query('update blob_pieces set bytes = $1', [text]);
  },
  async count(query) {
    const [row] = await query('select count(*)::int as blobs from blobs where stored_at > 0');
    return row!['blobs'] as number;
  },
};

function inFolder(): BlobPlace {
  const payloadsFolder = newFolder();
  const files = () => filesBelow(payloadsFolder).filter((file) => !file.endsWith('state.id'));
  return {
    options: { payloadsFolder },
    damage: async (_, text) => {
      for (const file of files()) text === undefined ? rmSync(file) : writeFileSync(file, text);
    },
    count: async () => files().length,
  };
}

describeWithServer({ servers: 'PostgreSQL' }, 'files of a state that several machines share', (server) => {
  const two = (options: StoreOptions & BlobPlace['options'] = {}) => openTwo(server(), options);

  describe.each([
    ['in the database', () => inDatabase],
    ['in a folder', inFolder],
  ] as const)('%s', (_, make) => {
    let place: BlobPlace;
    beforeEach(() => {
      place = make();
    });
    testBlobs(server, () => place);
  });

  it('is swept if its process died while storing it, but not while it lives', async () => {
    const { one, query } = await two();
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

  it('never keeps rows whose file is lost', async () => {
    const { one } = await two();
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
    const { one, other } = await two({ keep: { payloads: 5, milliseconds: Number.MAX_SAFE_INTEGER } });
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
      { kind: 'other', files: 1 },
      { kind: 'owed', files: 2 },
    ]);
    await disk(other).claim(1_500_000);
    expect(forgot).toHaveBeenCalledExactlyOnceWith({ payloads: 3, bytes: 1_200_000 });
    await expect(disk(other).claim(2_000_000)).rejects.toMatchObject({ code: 'DISK_LIMIT' });
    expect(await wholePayload(owed.row, one)).toBe('whole');
  });

  it('is copied only if the disk has space, whatever the limit is', async () => {
    const { one, other } = await two();
    const { row } = await owe(one, 'rows');
    const there = { ...row, path: copyOf(row.path, one, other) };
    const limit = (limits: DiskLimits) => {
      const disk = new Disk({ store: other, limits, forgot: vi.fn() });
      other.limitCopies((bytes) => disk.claimCopy(bytes));
    };
    limit({ limitBytes: 1_000_000_000, freeBytes: 1e18 });
    await expect(wholePayload(there, other)).rejects.toMatchObject({ code: 'DISK_FULL' });
    limit({ limitBytes: 1, freeBytes: 0 });
    expect(await wholePayload(there, other)).toBe('whole');
  });

  it('is swept by the process that plans, and by no other', async () => {
    const { one, other, query } = await two();
    const { row, run } = await owe(one, 'rows');
    await one.runs.finish(run, { state: 'delivered' });
    await query("update outbox set state = 'superseded'");
    await query("update blobs set stored_at = 1 where name like 'payloads/%'");
    expect((await recover(other, { prunes: false })).swept).toEqual([]);
    expect((await recover(other)).swept).toEqual([copyOf(row.path, one, other)]);
  });

  it('has a cache that a daemon sweeps regularly', async () => {
    const { one, other } = await two();
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
    const { one, other, open, query, database } = await two({ payloadsFolder });
    const large = 'large '.repeat(300_000);
    const { row, run } = await owe(one, large);
    expect(await query('select 1 from blob_pieces')).toEqual([]);
    rmSync(one.folder, { recursive: true });
    const there = { ...row, path: copyOf(row.path, one, other) };
    expect(await wholePayload(there, other)).toBe('whole');
    expect(readFileSync(there.path, 'utf8') === large).toBe(true);
    expect(await query('select sha256 = $1 as same from blobs', [row.sha256])).toEqual([{ same: true }]);

    rmSync(there.path);
    renameSync(payloadsFolder, `${payloadsFolder}.away`);
    await expect(wholePayload(there, other)).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    await expect(claimPayloads(await open())).rejects.toMatchObject({ code: 'PAYLOADS_ELSEWHERE' });
    await expect(owe(other, 'more', 'i2')).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    renameSync(`${payloadsFolder}.away`, payloadsFolder);
    const elsewhere = await newStore({ folder: newFolder(), database: { ...database, payloadsFolder: undefined } });
    await expect(claimPayloads(elsewhere)).rejects.toMatchObject({ code: 'PAYLOADS_ELSEWHERE' });

    const [id] = readdirSync(payloadsFolder);
    const blob = join(payloadsFolder, id!, storedPath(one.folder, row.path));
    writeFileSync(blob, 'rots');
    expect(await wholePayload(there, other)).toBe('damaged');
    await other.outbox.delivered((await other.outbox.attempt(row.id))!);
    expect(await other.payloads.release(there.path)).toBe(true);
    expect(await wholePayload(there, other)).toBe('missing');
    await other.runs.finish(run, { state: 'delivered' });
    await sweepFiles(other, { withBlobs: true });
    expect(existsSync(blob)).toBe(false);
    expect(await query('select name from blobs where sha256 is not null or stored_at <= 0')).toEqual([]);
  });

  it('can be in the same folder as those of another state', async () => {
    const payloadsFolder = newFolder();
    const [first, second] = [await two({ payloadsFolder }), await two({ payloadsFolder })];
    for (const { one } of [first, second]) await owe(one, 'rows');
    expect(readdirSync(payloadsFolder)).toHaveLength(2);
    for (const { one, other } of [first, second]) {
      const [row] = await other.outbox.inState('owed');
      rmSync(one.folder, { recursive: true });
      expect(await wholePayload(row!, other)).toBe('whole');
    }
  });

  it("don't keep a process from planning if they can't be removed", async () => {
    const payloadsFolder = join(newFolder(), 'mounted');
    const { one, query } = await two({ payloadsFolder });
    const { row } = await owe(one, 'rows');
    await one.outbox.delivered((await one.outbox.attempt(row.id))!);
    expect(await one.payloads.release(row.path)).toBe(true);
    renameSync(payloadsFolder, `${payloadsFolder}.away`);
    await recover(one);
    expect(await query('select name from blobs')).toHaveLength(1);
    renameSync(`${payloadsFolder}.away`, payloadsFolder);
    await recover(one);
    expect(await query('select name from blobs')).toEqual([]);
  });

  it('make the state unwritable while their folder is away', async () => {
    const payloadsFolder = join(newFolder(), 'mounted');
    const { one } = await two({ payloadsFolder });
    renameSync(payloadsFolder, `${payloadsFolder}.away`);
    await expect(owe(one, 'rows')).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    expect(one.unwritable()).toMatchObject({ code: 'STATE_UNREADABLE' });
    expect(await one.probe()).toMatchObject({ code: 'STATE_UNREADABLE' });
    renameSync(`${payloadsFolder}.away`, payloadsFolder);
    expect(await one.probe()).toBeUndefined();
    expect(one.unwritable()).toBeUndefined();
  });
});
