import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { batchText, type Extraction } from '#sdk';
import type { Manifest } from '../../src/kept-rows/manifest.ts';
import { MergeRun } from '../../src/kept-rows/merge-run.ts';
import { extract, type Options, problemOf } from './db-reader.ts';

/** A database whose keys are compared. */
export interface ComparedPlace {
  readonly source: () => Options;
  readonly folder?: () => string;
  run(sql: string): Promise<void>;
  /** Types of key columns, and three rows of them. */
  readonly zoo: { readonly types: readonly string[]; readonly rows: readonly [string, string, string] };
}

async function rowsOf({ batches }: Pick<Extraction, 'batches'>) {
  const rows: (string | null)[][] = [];
  for await (const batch of batches) rows.push(...batchText(batch));
  return rows;
}

/** Merges a read into the rows of the last one, as the pipeline does. */
async function merge(
  extraction: Extraction,
  { kept, key, current }: { kept: string; key: readonly string[]; current?: Manifest },
) {
  const rule = { disposition: 'merge', key, deletes: 'compare' } as const;
  const name = current === undefined ? 'first' : 'second';
  const given = { rule, folder: kept, run: name, scratch: kept, asOf: 0, zone: 'UTC' };
  const merged = new MergeRun(current === undefined ? given : { ...given, current });
  try {
    merged.begin({ columns: extraction.columns, cursor: extraction.cursor! });
    for await (const batch of extraction.batches) await merged.take(batch);
    if (current !== undefined) {
      const { columns, batches } = await extraction.readKeys!();
      merged.beginKeys(columns);
      for await (const batch of batches) await merged.takeKeys(batch);
      await merged.endKeys();
    }
    await merged.merge();
    const rows: (string | null)[][] = [];
    for (let batch = await merged.next(); batch !== undefined; batch = await merged.next())
      rows.push(...batchText(batch));
    return { rows, manifest: await merged.seal(), missing: merged.missing, watermark: extraction.watermark!()! };
  } finally {
    await merged.close();
  }
}

/** Rows of MySQL and MariaDB whose keys differ in ways that a comparison could miss. */
export const mysqlZoo: ComparedPlace['zoo'] = {
  types: ['decimal(10, 2)', 'char(5)', 'varchar(5)', 'binary(3)', 'datetime(6)', 'bigint unsigned'],
  rows: [
    "1.5, 'a', 'a ', x'00ff', '2026-01-31 10:00:00.12', 18446744073709551615",
    "1.5, 'a ', 'a', x'00ff', '2026-01-31 10:00:00', 1",
    "-1.5, 'A', '', x'', '1000-01-01', 0",
  ],
};

/** Lists a table's keys, and deletes exactly the rows that are gone. */
export function itComparesKeys({ source, folder = () => '/nowhere', run, zoo }: ComparedPlace): void {
  const query = { table: 'parts', cursor: 'version' };

  beforeEach(async () => {
    await run('drop table if exists parts');
    await run('create table parts (version int, shop varchar(9), line int)');
    await run("insert into parts values (1, 'a', 1), (2, 'b', 1), (3, 'a', 2)");
  });

  async function open(watermark?: string) {
    const comparedKey = ['line', 'shop'];
    return extract(source(), query, { folder: folder(), watermark, comparedKey });
  }

  /** Reads rows and keys; `between` runs after the rows. */
  async function compared(watermark?: string, between?: string) {
    const extraction = await open(watermark);
    const rows = await rowsOf(extraction);
    if (between !== undefined) await run(between);
    const list = await extraction.readKeys!();
    const keys = await rowsOf(list);
    const { value } = JSON.parse(extraction.watermark!()!) as { value: string };
    return { rows, keys, value, columns: list.columns.map(({ name }) => name), watermark: extraction.watermark!() };
  }

  it('deletes exactly the rows that are gone, whatever types the key has', async () => {
    const kept = await mkdtemp(join(tmpdir(), 'sluice-compare-kept-'));
    onTestFinished(() => rm(kept, { recursive: true }));
    const key = zoo.types.map((_, i) => `k${i}`);
    await run('drop table if exists zoo');
    await run(`create table zoo (version int, ${zoo.types.map((type, i) => `k${i} ${type} not null`).join(', ')})`);
    await run(`insert into zoo values ${zoo.rows.map((row, i) => `(${i + 1}, ${row})`).join(', ')}`);
    const read = (watermark?: string) =>
      extract(source(), { table: 'zoo', cursor: 'version' }, { folder: folder(), watermark, comparedKey: key });
    const { manifest: current, watermark } = await merge(await read(), { kept, key });
    await run('delete from zoo where version = 2');
    const { rows, missing } = await merge(await read(watermark), { kept, key, current });
    expect({ rows: rows.sort(), missing }).toEqual({ rows: (await rowsOf(await read())).sort(), missing: undefined });
    expect(rows).toHaveLength(2);
  });

  it('reads rows again that are in the list of keys, but not in the job', async () => {
    const { watermark } = await compared();
    const extraction = await open(watermark);
    await rowsOf(extraction);
    const { batches, onMissing } = await extraction.readKeys!();
    await rowsOf({ batches });
    onMissing('2');
    expect((await compared(extraction.watermark!())).rows.map(([version]) => version)).toEqual(['2', '3']);
  });

  it('fails if a row has lost its cursor since the rows were read', async () => {
    const { watermark } = await compared();
    const later = compared(watermark, 'update parts set version = null where version = 1');
    expect(await problemOf(later)).toMatchObject({ code: 'DB_NULL_IN_ORDER' });
  });

  it('lists the keys of all rows, and reads the newest row again', async () => {
    const { rows, keys, value, columns, watermark } = await compared();
    expect(rows).toHaveLength(3);
    expect({ columns, value }).toEqual({ columns: ['line', 'shop', 'version'], value: '3' });
    expect(keys.sort()).toEqual([
      ['1', 'a', '1'],
      ['1', 'b', '2'],
      ['2', 'a', '3'],
    ]);
    expect((await compared(watermark)).rows).toEqual([['3', 'a', '2']]);
  });

  it('moves the watermark back if the newest rows are gone, so that rows of a lagging server are read later', async () => {
    const { watermark } = await compared();
    await run('delete from parts where version > 1');
    const later = await compared(watermark);
    expect(later).toMatchObject({ rows: [], keys: [['1', 'a', '1']], value: '1' });
    await run("insert into parts values (2, 'b', 1), (3, 'a', 2)");
    expect((await compared(later.watermark)).rows).toHaveLength(3);
  });

  it('does not skip rows that are added between the rows and the keys', async () => {
    const { watermark } = await compared();
    const later = await compared(watermark, "insert into parts values (4, 'c', 1), (5, 'c', 2)");
    expect(later.keys).toHaveLength(5);
    expect((await compared(later.watermark)).rows.map(([version]) => version)).toEqual(['3', '4', '5']);
  });

  it('fails if there are no keys at all', async () => {
    const { watermark } = await compared();
    await run('delete from parts');
    expect(await problemOf(compared(watermark))).toMatchObject({ code: 'DB_NO_KEYS', family: 'try_later' });
  });
}
