import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { SqliteDatabase, type SqliteValue } from '../../src/lib/sqlite.ts';
import { backUp } from '../../src/state/backup/backup.ts';
import { distrustState } from '../../src/state/backup/distrust.ts';
import { restore } from '../../src/state/backup/restore.ts';
import type { StateDatabase } from '../../src/state/engine/state-database.ts';
import { openStore } from '../../src/state/store.ts';
import { describeWithServer } from '../servers/describe.ts';
import { cleanUp, newFolder } from './fixtures.ts';

afterEach(cleanUp);

const payload = 'payloads/run/payload.csv';
const segment = 'run/rows';
const segments = JSON.stringify({ segments: [{ file: segment }] });
/** Values that have a meaning to a backup. All other values are made up. */
const special: Readonly<Record<string, string>> = { path: payload, manifest: segments, staged: segments };
/** More rows than are copied at a time. */
const many = 1_201;

type Tables = Readonly<Record<string, readonly Readonly<Record<string, SqliteValue>>[]>>;

/** Creates a state in a folder with rows in every table, and with all files that the rows refer to. */
async function makeState(): Promise<string> {
  const folder = newFolder();
  await (await openStore(folder, {})).close();
  const database = new SqliteDatabase(join(folder, 'sluice.db'));
  database.transaction(() => {
    for (const name of namesIn(database)) {
      const columns = database
        .prepare('select name, lower(type) as type, "notnull", pk from pragma_table_info(?)')
        .all<Column>(name);
      const values = columns.map(() => '?').join(', ');
      const insert = database.prepare(`insert into ${name} values (${values})`);
      for (let n = 1; n <= (name === 'audit' ? many : 3); n++)
        insert.run(...columns.map((column) => madeUp(column, n)));
    }
  });
  // Rows whose IDs were the highest are gone, but their IDs aren't given to others.
  database.exec(`delete from audit where sequence = ${many}`);
  database.close();
  for (const [file, text] of [
    [payload, 'id\n1\n'],
    [join('sets', segment), 'rows'],
  ] as const) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

function madeUp({ name, type, notnull, pk }: Column, n: number): SqliteValue {
  if (n === 3 && notnull === 0 && pk === 0) return null;
  if (name in special) return special[name]!;
  if (type === 'text') return `${name} ${n}: äöü, '"\\ and 🙂`;
  if (type === 'bigint') return 4_102_444_800_000 + n;
  if (type === 'double precision') return n + 0.5;
  return n;
}

function namesIn(database: SqliteDatabase): string[] {
  const text =
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' and name <> 'migrations'";
  return database
    .prepare(text)
    .all<{ name: string }>()
    .map(({ name }) => name);
}

/** Reads all rows of a state in a folder. */
function rowsIn(folder: string): Tables {
  const database = new SqliteDatabase(join(folder, 'sluice.db'), { readOnly: true });
  try {
    const all = (name: string) =>
      database.prepare(`select * from ${name} order by 1, 2`).all<Record<string, SqliteValue>>();
    return Object.fromEntries(namesIn(database).map((name) => [name, all(name)]));
  } finally {
    database.close();
  }
}

const moved = { replace: false, moved: true };
let schemas = 0;

describeWithServer({ servers: 'PostgreSQL' }, 'a state that is moved', (server) => {
  function place(): { readonly state: string; readonly stateDatabase: StateDatabase } {
    const { host, port, user, password, database } = server();
    return {
      state: newFolder(),
      stateDatabase: { host, port, user, password, database, schema: `moved_${schemas++}` },
    };
  }

  async function query(text: string): Promise<readonly Record<string, unknown>[]> {
    const { host, port, user, password, database } = server();
    const client = new pg.Client({ host, port, user, password, database });
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(text);
    await client.end();
    return rows;
  }

  /** Backs up a state and restores the backup. */
  async function move(from: Parameters<typeof backUp>[0], to: Parameters<typeof backUp>[0], how = moved) {
    const backup = join(newFolder(), 'backup');
    await backUp(from, backup, Date.now());
    return restore({ from: backup, to, ...how });
  }

  it('to a server and back keeps every row and file', async () => {
    const [state, there, back] = [await makeState(), place(), newFolder()];
    const { runs, leases, heartbeats, blobs: _, blob_pieces: __, ...rest } = rowsIn(state);
    expect(leases).toHaveLength(3);
    expect(heartbeats).toHaveLength(3);
    await move({ state }, there);
    expect(existsSync(join(there.state, payload))).toBe(true);
    await move(there, { state: back });
    const found = rowsIn(back);
    expect(Object.keys(found)).toEqual(Object.keys(rowsIn(state)));
    expect(found).toMatchObject({ ...rest, runs });
    expect(found).toMatchObject({ leases: [], heartbeats: [] });
    for (const file of [payload, join('sets', segment)]) expect(existsSync(join(back, file))).toBe(true);
  });

  it('to a server continues its numbering', async () => {
    const there = place();
    await move({ state: await makeState() }, there);
    const { schema } = there.stateDatabase;
    const store = await openStore(there.state, { database: there.stateDatabase });
    await store.audit.write({ job: 'orders', action: 'resume', by: { who: 'test', why: '' } });
    await store.close();
    const [last] = await query(`select max(sequence)::int as sequence from ${schema}.audit`);
    expect(last).toEqual({ sequence: many + 1 });
  });

  it("doesn't replace another one, unless asked to, and then keeps it", async () => {
    const [state, there] = [await makeState(), place()];
    await move({ state }, there);
    await expect(move({ state }, there)).rejects.toMatchObject({ code: 'STATE_EXISTS' });
    const { former } = await move({ state }, there, { ...moved, replace: true });
    expect(former).toEqual([
      expect.stringMatching(`^schema ${there.stateDatabase.schema}_before_`),
      expect.stringMatching(`^${there.state}/before-`),
    ]);
    const [kept] = await query(`select count(*)::int as audit from ${former[0]!.replace('schema ', '')}.audit`);
    expect(kept).toEqual({ audit: many - 1 });
    expect(existsSync(join(former[1]!, payload))).toBe(true);
    expect(existsSync(join(there.state, payload))).toBe(true);
  });

  it("isn't mixed with another state's files", async () => {
    const [state, there] = [await makeState(), place()];
    await move({ state }, there);
    const other = { ...place(), state: there.state };
    await expect(move({ state }, other)).rejects.toMatchObject({ code: 'STATE_FOLDER_TAKEN' });
    await expect(move({ state }, { ...place(), state })).rejects.toMatchObject({ code: 'STATE_FOLDER_TAKEN' });
  });

  it('from a server takes along the files that only the server has', async () => {
    const there = place();
    await move({ state: await makeState() }, there);
    const [elsewhere, back] = [{ ...there, state: newFolder() }, newFolder()];
    await move(elsewhere, { state: back });
    for (const file of [payload, join('sets', segment)]) expect(existsSync(join(back, file))).toBe(true);
  });

  it.each([false, true])('keeps its payloads in a folder, also if it replaces another state: %s', async (replace) => {
    const [state, at, back] = [await makeState(), place(), newFolder()];
    const payloadsFolder = newFolder();
    const there = { ...at, stateDatabase: { ...at.stateDatabase, payloadsFolder } };
    await move({ state }, there);
    if (replace) await move({ state }, there, { ...moved, replace });
    expect(readdirSync(payloadsFolder)).toHaveLength(replace ? 2 : 1);
    await move({ ...there, state: newFolder() }, { state: back });
    for (const file of [payload, join('sets', segment)]) expect(existsSync(join(back, file))).toBe(true);
  });

  it('leaves nothing in a payloads folder if it fails, and can be moved there afterwards', async () => {
    const [state, at] = [await makeState(), place()];
    const payloadsFolder = newFolder();
    const there = { ...at, stateDatabase: { ...at.stateDatabase, payloadsFolder } };
    const backup = join(newFolder(), 'backup');
    await backUp({ state }, backup, Date.now());
    const { schema } = there.stateDatabase;
    await query(`create schema ${schema}`);
    await query(`create table ${schema}.outbox (id int)`);
    await expect(restore({ from: backup, to: there, ...moved })).rejects.toThrow('outbox');
    expect(readdirSync(payloadsFolder)).toEqual([]);
    expect(await query(`select nspname from pg_namespace where nspname like '${schema}%'`)).toEqual([
      { nspname: schema },
    ]);
    await query(`drop table ${schema}.outbox`);
    await restore({ from: backup, to: there, ...moved });
    expect(readdirSync(payloadsFolder)).toHaveLength(1);
  });

  it('can share a schema with other tables', async () => {
    const [state, there] = [await makeState(), place()];
    const { schema } = there.stateDatabase;
    await query(`create schema ${schema}`);
    await query(`create table ${schema}.others (id int)`);
    await move({ state }, there);
    const tables = await query(
      `select tablename from pg_tables where schemaname = '${schema}' and tablename in ('others', 'outbox')`,
    );
    expect(tables).toHaveLength(2);
  });

  it('leaves behind no draft of a restore that was killed', async () => {
    const [state, there] = [await makeState(), place()];
    const { schema } = there.stateDatabase;
    const digits = (ageMs: number) => new Date(Date.now() - ageMs).toISOString().replaceAll(/\D/g, '');
    const day = 86_400_000;
    for (const age of [0, 2 * day]) await query(`create schema ${schema}_restoring_${digits(age)}`);
    await move({ state }, there);
    const drafts = await query(`select nspname from pg_namespace where nspname like '${schema}_restoring_%'`);
    expect(drafts).toHaveLength(1);
  });

  it('is complete or not there at all', async () => {
    const [state, there] = [await makeState(), place()];
    const database = new SqliteDatabase(join(state, 'sluice.db'));
    database.exec("update audit set at = 'not a number' where sequence = 1200");
    database.close();
    await expect(move({ state }, there)).rejects.toThrow('not a number');
    expect(await query(`select 1 from pg_namespace where nspname = '${there.stateDatabase.schema}'`)).toEqual([]);
    expect(existsSync(join(there.state, payload))).toBe(false);
  });

  it.each(['a folder', 'a server'])('to %s is not trusted if it may be out of date', async (target) => {
    const there = target === 'a folder' ? { state: newFolder() } : place();
    const state = await makeState();
    const database = new SqliteDatabase(join(state, 'sluice.db'));
    database.exec("update outbox set state = 'owed'");
    database.exec('update receipts set certain = 1');
    database.exec('delete from current_generations');
    database.close();
    await move({ state }, there);
    expect(await distrustState(there)).toBe(3);
    const copy = newFolder();
    await move(there, { state: copy });
    const { outbox, receipts, watermarks } = rowsIn(copy);
    expect(outbox?.map((row) => row['state'])).toEqual(['dead', 'dead', 'dead']);
    expect(receipts?.map(({ certain }) => certain)).toEqual([0, 0, 0]);
    expect(watermarks).toEqual([]);
  });
});
