import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SqliteDatabase, type SqliteValue, sqliteErrorName } from '../../src/lib/sqlite.ts';
import fc, { runsOf } from '../property.ts';

let folder: string;
let db: SqliteDatabase;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-sqlite-'));
  db = new SqliteDatabase(join(folder, 'a.db'));
});

afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

/** The name of the error that `work` throws; its class if it isn't SQLite's. */
function errorOf(work: () => unknown): string {
  try {
    work();
  } catch (thrown) {
    return sqliteErrorName(thrown) ?? (thrown as Error).name;
  }
  return 'none';
}

describe('a SQLite connection', () => {
  it.each([
    'select 1; select 2',
    'select 1; drop table t',
    'select 1 -- one\n; select 2',
    'select 1 /* é漢😀 */; select 2',
    "select 'é;'; x",
    'select 1\0; select 2',
    ';select 1; select 2',
  ])('rejects a second statement: %j', (sql) => {
    expect(() => db.prepare(sql)).toThrow('The SQL contains more than one statement');
  });

  it.each([
    'select 1',
    'select 1;',
    ' select 1 ; ; \n',
    'select 1 -- ; select 2',
    'select 1 /* ; */ ; -- x\n/* y',
    "select ';?'",
  ])('runs a single statement, whatever surrounds it: %j', (sql) => {
    expect(db.prepare(sql).get()).toBeDefined();
  });

  it('rejects a missing, undefined or extra value without running the statement', () => {
    db.exec('create table t (a, b)');
    const insert = db.prepare('insert into t values (?, ?)');
    for (const values of [[], [1], [1, 2, 3], [1, undefined]])
      expect(() => insert.run(...(values as SqliteValue[])), JSON.stringify(values)).toThrow();
    expect(db.prepare('select count(*) from t').value()).toBe(0);
    expect(() => db.prepare('select a from t where a = ?').all()).toThrow('has 1 parameters, but 0 values were passed');
    expect(() => db.prepare('select ?').get()).toThrow();
    expect(() => db.prepare('select ?').value()).toThrow();
    expect(() => db.prepare('select ?').iterateExact()).toThrow();
  });

  it.each([':a', '@a', '$a', '#a', ':1'])('rejects the named parameter %s', (name) => {
    expect(errorOf(() => db.prepare(`select ${name}`))).not.toBe('none');
  });

  it("doesn't let VACUUM INTO or ATTACH create a file if it's read-only", () => {
    db.exec('create table t (a)');
    const reader = new SqliteDatabase(join(folder, 'a.db'), { readOnly: true });
    const copy = join(folder, 'copy.db');
    expect(errorOf(() => reader.prepare(`vacuum into '${copy}'`).run())).toBe('SQLITE_AUTH');
    expect(errorOf(() => reader.exec(`vacuum into '${copy}'`))).toBe('SQLITE_AUTH');
    expect(errorOf(() => reader.prepare(`attach '${copy}' as other`).run())).toBe('SQLITE_AUTH');
    expect(errorOf(() => reader.prepare('insert into t values (1) returning a').all())).toBe('SQLITE_READONLY');
    expect(existsSync(copy)).toBe(false);
    reader.close();
  });

  it('treats a path that looks like a URI as a path', () => {
    const file = join(folder, 'file:b?mode=memory#x%41');
    const other = new SqliteDatabase(file);
    other.exec('create table t (a)');
    other.close();
    expect(existsSync(file)).toBe(true);
    for (const options of [{ readOnly: true }, { mustExist: true }]) {
      const again = new SqliteDatabase(file, options);
      expect(again.prepare('select count(*) from t').value()).toBe(0);
      again.close();
    }
  });

  it("doesn't create a file that must exist", () => {
    for (const options of [{ mustExist: true }, { readOnly: true }]) {
      expect(errorOf(() => new SqliteDatabase(join(folder, 'none.db'), options))).toBe('SQLITE_CANTOPEN');
      expect(existsSync(join(folder, 'none.db'))).toBe(false);
    }
  });

  it('reads text to its end, even if it contains NUL', () => {
    expect(db.prepare("select 'a' || char(0) || 'b'").value()).toBe('a\0b');
    expect(db.prepare('select hex(?)').value('a\0b')).toBe('610062');
  });

  it('reads an integer beyond the safe range exactly, or fails', () => {
    const sql = 'select 9007199254740993 as a';
    expect(() => db.prepare(sql).get()).toThrow('too large');
    expect([...db.prepare(sql).iterateExact()]).toEqual([[9007199254740993n]]);
  });

  it('caches 16 MB of pages', () => {
    expect(db.pragma('cache_size')).toBe(-16_000);
  });
});

describe('rows', () => {
  it('are ordinary objects with all values unchanged', () => {
    const row = db.prepare("select 1 as a, 1.5 as b, 'x' as c, x'00ff' as d, null as e, x'' as f").get();
    const bytes = { d: new Uint8Array([0, 255]), f: new Uint8Array() };
    expect(row).toStrictEqual({ a: 1, b: 1.5, c: 'x', e: null, ...bytes });
    expect(db.prepare('select 1 where 0').get()).toBeUndefined();
  });

  it("have the table's current columns, even if the statement was prepared earlier", () => {
    db.exec('create table t (a, b); insert into t values (1, 2)');
    const all = db.prepare('select * from t');
    expect(all.all()).toEqual([{ a: 1, b: 2 }]);
    db.prepare('alter table t rename column b to c').run();
    expect(all.all()).toEqual([{ a: 1, c: 2 }]);
    db.exec('alter table t add column d default 3');
    expect(all.get()).toEqual({ a: 1, c: 2, d: 3 });
  });
});

describe('a transaction', () => {
  it("is all or nothing, even if it's nested", () => {
    db.exec('create table t (a)');
    const insert = db.prepare('insert into t values (?)');
    const fails = (value: number) => () => {
      insert.run(value);
      throw new Error('no');
    };
    expect(() => db.transaction(fails(1))).toThrow('no');
    db.transaction(() => {
      insert.run(2);
      expect(() => db.transaction(fails(3))).toThrow('no');
      db.transaction(() => insert.run(4));
    });
    expect(db.prepare('select a from t').all()).toEqual([{ a: 2 }, { a: 4 }]);
    expect(db.inTransaction).toBe(false);
  });

  it("that SQLite rolled back by itself fails with SQLite's error", () => {
    db.exec('create table t (a); pragma max_page_count = 3');
    const insert = db.prepare('insert into t values (zeroblob(100000))');
    expect(errorOf(() => db.transaction(() => insert.run()))).toBe('SQLITE_FULL');
    expect(db.inTransaction).toBe(false);
  });
});

describe('a backup', () => {
  it('contains only committed rows, even while another connection writes', async () => {
    db.pragma('journal_mode = WAL');
    db.exec('create table t (a); insert into t values (1)');
    const other = new SqliteDatabase(join(folder, 'a.db'));
    other.exec('begin immediate; insert into t values (2)');
    await db.backup(join(folder, 'file:copy.db'));
    other.close();
    const copy = new SqliteDatabase(join(folder, 'file:copy.db'), { readOnly: true });
    expect(copy.prepare('select a from t').all()).toEqual([{ a: 1 }]);
    copy.close();
  });
});

describe("an error's name", () => {
  it("is SQLite's error code, the extended one if there is one", () => {
    db.exec('create table t (a unique, b not null, c primary key)');
    const names = [
      () => db.exec('selec'),
      () => db.exec('insert into t values (1, 1, 1), (1, 1, 2)'),
      () => db.exec('insert into t values (1, 1, 1), (2, 1, 1)'),
      () => db.exec('insert into t values (1, null, 1)'),
      () => new SqliteDatabase(import.meta.filename).exec('select * from t'),
      () => new SqliteDatabase(folder),
      () => JSON.parse('x'),
    ].map(errorOf);
    const constraints = ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_NOTNULL'];
    expect(names).toEqual(['SQLITE_ERROR', ...constraints, 'SQLITE_NOTADB', 'SQLITE_CANTOPEN', 'SyntaxError']);
  });

  it('is SQLITE_BUSY while another connection writes', () => {
    const other = new SqliteDatabase(join(folder, 'a.db'), { busyTimeoutMs: 0 });
    db.exec('begin exclusive');
    expect(errorOf(() => other.exec('begin immediate'))).toBe('SQLITE_BUSY');
    other.close();
  });
});

/**
 * The number of values that SQLite itself accepts: an index out of range is rejected even before a value that can't be
 * bound.
 */
function countBySqlite(raw: DatabaseSync, sql: string): number {
  const statement = raw.prepare(sql);
  for (let count = 0; ; count++) {
    try {
      statement.get(...Array.from({ length: count }, () => 0), Symbol() as unknown as null);
    } catch (thrown) {
      if ((thrown as { code: string }).code !== 'ERR_INVALID_ARG_TYPE') return count - 1;
    }
    if (count > 60) throw new Error(`no end of parameters: ${sql}`);
  }
}

describe('the parameter count', () => {
  it("is the same as SQLite's, even if strings, comments and names look like parameters", () => {
    const raw = new DatabaseSync(':memory:');
    const part = fc.constantFrom(
      ...['?', '?2', '?7', "'?'", "'it''s ?'", '"a?" is null', '`b?` is null', '[c?] is null', '1 -- ?\n', '/* ? */ 2'],
      ...["x'3f'", '? + ?', 'max(?, ?3)', "'a' -- ' ?\n", '5.e3', "'{\"a\":1}' ->> '$.a'", '-?', 'a$b', "'é?'", 'ü'],
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        const names = '1 as "a?", 2 as `b?`, 3 as [c?], 4 as a$b, 5 as ü';
        const sql = `select ${parts.join(', ')} from (select ${names})`;
        const count = countBySqlite(raw, sql);
        expect(() => db.prepare(sql).all(...Array.from({ length: count }, () => 0))).not.toThrow();
        expect(() => db.prepare(sql).all(...Array.from({ length: count + 1 }, () => 0))).toThrow();
        if (count > 0) expect(() => db.prepare(sql).all(...Array.from({ length: count - 1 }, () => 0))).toThrow();
      }),
      { numRuns: runsOf(300) },
    );
    raw.close();
  });
});
