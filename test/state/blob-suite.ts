import { execFile as execFileWithCallback } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import pg from 'pg';
import { expect, it } from 'vitest';
import { wholePayload } from '../../src/delivery/whole-payload.ts';
import type { Manifest } from '../../src/kept-rows/manifest.ts';
import { claimFolder } from '../../src/state/claim-folder.ts';
import { claimPayloads } from '../../src/state/claim-payloads.ts';
import type { StateDatabase } from '../../src/state/engine/state-database.ts';
import { recover } from '../../src/state/recover.ts';
import type { Store, StoreOptions } from '../../src/state/store.ts';
import { noon, SteppingClock } from '../clocks.ts';
import type { TestServer } from '../servers/server.ts';
import { newFolder, newStore, oweText, place, spool } from './fixtures.ts';

const execFile = promisify(execFileWithCallback);
const by = { who: 'me', why: '' };

type Query = (text: string, parameters?: unknown[]) => Promise<Record<string, unknown>[]>;

/** Where payloads are in a test. */
export interface BlobPlace {
  /** The options of the state's database that say so. */
  readonly options: Pick<StateDatabase, 'payloadsFolder' | 'payloadsBucket'>;
  /** Replaces the bytes of all blobs, or deletes them. */
  damage(query: Query, text?: string): Promise<void>;
  /** Returns the number of blobs whose bytes are there. */
  count(query: Query): Promise<number>;
}

/** The path of a machine's copy of a file that another machine has. */
export const copyOf = (path: string, from: Store, to: Store) => path.replace(from.folder, to.folder);

export async function owe(store: Store, text: string, instance = 'i') {
  const { owed, payload, run } = await oweText(store, { instance, text, asOf: noon });
  return { row: (await store.outbox.find((owed as { id: number }).id))!, payload, run };
}

let schemas = 0;

/** Two machines, each with its own folder, that share a state. */
export async function openTwo(server: TestServer, options: StoreOptions & BlobPlace['options'] = {}) {
  const { payloadsFolder, payloadsBucket, ...rest } = options;
  const { host, port, user, password, database: name } = server;
  schemas += 1;
  const schema = `blobs_${process.pid}_${schemas}`;
  const database = { host, port, user, password, database: name, schema, payloadsFolder, payloadsBucket };
  const open = () => newStore({ folder: newFolder(), database, clock: new SteppingClock(Date.now()), ...rest });
  const query: Query = async (text, parameters = []) => {
    const client = new pg.Client({ host, port, user, password, database: name });
    await client.connect();
    await client.query(`set search_path to ${schema}`);
    return (await client.query(text, parameters).finally(() => client.end())).rows;
  };
  const [one, other] = [await open(), await open()];
  for (const store of [one, other]) {
    await claimFolder(store);
    await claimPayloads(store);
  }
  return { one, other, open, query, database };
}

/** The tests of blobs that all storages have to pass. */
export function testBlobs(server: () => TestServer, at: () => BlobPlace): void {
  const two = (options: StoreOptions = {}) => openTwo(server(), { ...options, ...at().options });

  it('has an owed payload on all machines, even if the one that made it is lost', async () => {
    const { one, other } = await two();
    const { row } = await owe(one, 'rows');
    rmSync(one.folder, { recursive: true });
    expect(await recover(other)).toMatchObject({ damaged: [] });
    const [there] = await other.outbox.inState('owed');
    expect(there).toMatchObject({ id: row.id, path: copyOf(row.path, one, other) });
    expect(await wholePayload(there!, other)).toBe('whole');
    expect(readFileSync(there!.path, 'utf8')).toBe('rows');
  });

  it('fetches a payload again whose copy vanished or was damaged', async () => {
    const { one } = await two();
    const { row } = await owe(one, 'rows');
    for (const lose of [() => rmSync(dirname(row.path), { recursive: true }), () => writeFileSync(row.path, 'rots')]) {
      lose();
      expect(await wholePayload(row, one)).toBe('whole');
      expect(readFileSync(row.path, 'utf8')).toBe('rows');
    }
  });

  it('reports a payload that is missing or damaged everywhere', async () => {
    const { one, other, query } = await two();
    const { row } = await owe(one, 'rows');
    const path = copyOf(row.path, one, other);
    await at().damage(query, 'rots');
    expect(await wholePayload({ ...row, path }, other)).toBe('damaged');
    await at().damage(query, 'row');
    expect(await wholePayload({ ...row, path }, other)).toBe('damaged');
    await at().damage(query);
    expect(await wholePayload({ ...row, path }, other)).toBe('missing');
    expect(existsSync(path)).toBe(false);
    await query('delete from blobs');
    rmSync(row.path);
    expect((await recover(other)).damaged).toMatchObject([{ id: row.id }]);
    expect(await other.outbox.find(row.id)).toMatchObject({ state: 'dead', code: 'PAYLOAD_DAMAGED' });
  });

  it('never owes a payload whose bytes differ from its hash', async () => {
    const { one, query } = await two();
    const run = await one.runs.begin({ job: 'j', origin: 'schedule' });
    const payload = spool(one, { run, text: 'rows', asOf: noon });
    writeFileSync(payload.path, 'rots');
    const owing = { run, job: 'j', destination: place, instance: 'i', payload, mediaType: 'text/csv', always: false };
    await expect(one.outbox.enqueue(owing)).rejects.toMatchObject({ code: 'PAYLOAD_DAMAGED' });
    expect(await one.runs.find(run)).toMatchObject({ state: 'running' });
    expect(await query('select name from blobs where sha256 is not null')).toEqual([]);
  });

  it('stores files of many pieces, also empty ones', async () => {
    const { one, other, query } = await two();
    expect(await at().count(query)).toBe(0);
    for (const text of ['', 'x'.repeat(1024 * 1024), 'large '.repeat(600_000)]) {
      const { row } = await owe(one, text, `i${text.length}`);
      const path = copyOf(row.path, one, other);
      expect(await wholePayload({ ...row, path }, other)).toBe('whole');
      expect(readFileSync(path, 'utf8') === text).toBe(true);
    }
    expect(await at().count(query)).toBe(3);
  });

  it('is stored again after it was dropped', async () => {
    const { one, other, query } = await two();
    const { row } = await owe(one, 'rows');
    const path = copyOf(row.path, one, other);
    writeFileSync(`${row.path}.kept`, 'rows');
    await one.blobs.drop(row.path);
    renameSync(`${row.path}.kept`, row.path);
    await one.blobs.put([row]);
    await one.blobs.purge();
    expect(await wholePayload({ ...row, path }, other)).toBe('whole');
    expect(await at().count(query)).toBe(1);
  });

  it('is deleted for all machines when nothing needs it any more', async () => {
    const { one, other, query } = await two();
    const { row } = await owe(one, 'rows');
    expect(await other.payloads.release(copyOf(row.path, one, other))).toBe(false);
    await other.outbox.delivered((await other.outbox.attempt(row.id))!);
    expect(await other.payloads.release(copyOf(row.path, one, other))).toBe(true);
    expect(await wholePayload({ ...row, path: copyOf(row.path, one, other) }, other)).toBe('missing');
    await other.blobs.purge();
    expect(await query('select name from blobs')).toEqual([]);
    expect(await at().count(query)).toBe(0);
    expect(existsSync(row.path)).toBe(true);
    utimesSync(row.path, 1, 1);
    await one.runs.finish(row.run, { state: 'delivered' });
    expect(await one.payloads.sweep()).toEqual([row.path]);
    expect(existsSync(row.path)).toBe(false);
  });

  it('can be rolled back to from another machine', async () => {
    const { one, other } = await two({ keep: { payloads: 5, milliseconds: Number.MAX_SAFE_INTEGER } });
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

  it('has kept rows on all machines, and deletes them on all', async () => {
    const { one, other, query } = await two();
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
    await other.blobs.purge();
    expect(existsSync(path)).toBe(false);
    expect(await query("select name from blobs where name like 'sets/%'")).toHaveLength(2);
  });

  it('needs no more memory if it is large', async () => {
    const { one, database } = await two();
    const folder = newFolder();
    const location = JSON.stringify(database);
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
}
