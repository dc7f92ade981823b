import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { closeSync, openSync, readFileSync, renameSync, statSync, utimesSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { batchText, type Extraction } from '#sdk';
import { SqliteFile } from '../../connectors/db/sqlite-file.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { extract, problemOf, read } from './db-reader.ts';

const rows = 20_000;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-sqlite-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const file = (name: string) => join(folder, name);
const source = (name: string) => ({ file: file(name) });
const sql = 'select id, word from shop order by id';

/** A database whose rows all contain the same word. Any two such databases have the same size and counters. */
function make(name: string, word: string, mode = 'delete'): void {
  const db = new SqliteDatabase(file(name));
  db.pragma(`journal_mode = ${mode}`);
  db.exec('create table shop (id integer primary key, word text, filler text)');
  const insert = db.prepare(
    "insert into shop values (?, ?, 'some hundred bytes that make the pages many, so that none of them is read at once')",
  );
  db.transaction(() => {
    for (let id = 1; id <= rows; id++) insert.run(id, word);
  });
  db.close();
}

/** Overwrites a file with another file's bytes, like `rsync --inplace`, without truncating it first. */
function overwrite(name: string, by: string): void {
  const there = openSync(file(name), 'r+');
  writeSync(there, readFileSync(file(by)));
  closeSync(there);
}

/** Reads the first batch, acts, and reads the rest. Returns the distinct words found. */
async function wordsOf({ batches }: Extraction, act: () => void | Promise<void>): Promise<string[]> {
  const words = new Set<string>();
  let count = 0;
  for await (const batch of batches) {
    if (count === 0) await act();
    for (const [, word] of batchText(batch)) words.add(word!);
    count += batch.length;
  }
  expect(count).toBe(rows);
  return [...words];
}

for (const mode of ['delete', 'wal']) {
  it(`never delivers a mix of two files if one is copied over the other (journal_mode ${mode})`, async () => {
    make('shop.db', 'old', mode);
    make('next.db', 'new', mode);
    const extraction = await extract(source('shop.db'), sql);
    const problem = await problemOf(wordsOf(extraction, () => overwrite('shop.db', 'next.db')));
    expect(problem).toMatchObject({ code: 'DB_FILE_CHANGED', family: 'try_later' });
    expect(problem.next).toContain('rename');
    expect(await wordsOf(await extract(source('shop.db'), sql), () => {})).toEqual(['new']);
  });
}

it('detects a copy that preserves the modification time', async () => {
  make('shop.db', 'old');
  make('next.db', 'new');
  const { atime, mtime } = statSync(file('shop.db'));
  const extraction = await extract(source('shop.db'), sql);
  const problem = await problemOf(
    wordsOf(extraction, () => {
      overwrite('shop.db', 'next.db');
      utimesSync(file('shop.db'), atime, mtime);
    }),
  );
  expect(problem).toMatchObject({ code: 'DB_FILE_CHANGED' });
});

it('reports a file that is overwritten during the read as overwritten, not as damaged', async () => {
  make('shop.db', 'old');
  const db = new SqliteDatabase(file('next.db'));
  db.exec('create table other (a)');
  db.close();
  const extraction = await extract(source('shop.db'), sql);
  const problem = await problemOf(wordsOf(extraction, () => overwrite('shop.db', 'next.db')));
  expect(problem).toMatchObject({ code: 'DB_FILE_CHANGED', family: 'try_later' });
});

it('delivers the original file if another file is renamed over it', async () => {
  make('shop.db', 'old');
  make('next.db', 'new');
  const extraction = await extract(source('shop.db'), sql);
  expect(await wordsOf(extraction, () => renameSync(file('next.db'), file('shop.db')))).toEqual(['old']);
});

const writer = `
  import { SqliteDatabase } from '../../src/lib/sqlite.ts';
  const [, path, mode] = process.argv;
  const db = new SqliteDatabase(path, { busyTimeoutMs: 20000 });
  db.exec('create table if not exists log (n)');
  const update = db.prepare('update shop set word = ?');
  const one = db.prepare('insert into log values (?)');
  let n = 0;
  const step = () => {
    n++;
    if (mode === 'wal') {
      if (n % 20 === 0) update.run('at ' + n);
      else one.run(n);
      db.pragma('wal_checkpoint(passive)');
    } else one.run(n);
    if (n === 3) process.stdout.write('writing');
    setTimeout(step, 10);
  };
  step();
`;

async function startWriter(path: string, mode: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', writer, path, mode], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the writer ended with ${code}`)));
  await Promise.race([once(child.stdout!, 'data'), ended]);
  ended.catch(() => undefined);
  return child;
}

it.each(['wal', 'delete'])(
  'delivers a single snapshot of a file whose writer commits continuously: %s',
  async (mode) => {
    make('shop.db', 'at 0', mode);
    const child = await startWriter(file('shop.db'), mode);
    try {
      for (let i = 0; i < 3; i++) {
        const extraction = await extract(source('shop.db'), sql);
        expect(await wordsOf(extraction, () => wait(300))).toHaveLength(1);
        await wait(50);
      }
      if (mode === 'wal')
        expect((await read(source('shop.db'), 'select max(n) as n from log')).rows[0]![0]).not.toBe('3');
    } finally {
      const exit = once(child, 'exit');
      if (child.kill()) await exit;
    }
  },
);

it('reads a file even if the writer commits between any two steps of this process, as on a busy machine', async () => {
  make('shop.db', 'at 0');
  const child = await startWriter(file('shop.db'), 'delete');
  const { fstatSync } = fs;
  try {
    fs.fstatSync = ((...given: Parameters<typeof fstatSync>) => {
      const stats = fstatSync(...given);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
      return stats;
    }) as typeof fstatSync;
    syncBuiltinESMExports();
    const open = new SqliteFile({ path: file('shop.db'), timeoutMs: 2000, sql, parameters: [] });
    expect(open.take().rows[0]).toEqual([1n, 'at 0']);
    open.close();
  } finally {
    fs.fstatSync = fstatSync;
    syncBuiltinESMExports();
    const exit = once(child, 'exit');
    if (child.kill()) await exit;
  }
});
