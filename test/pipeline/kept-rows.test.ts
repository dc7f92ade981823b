import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Extract } from '../../src/config/config.ts';
import type { KeptRowsOptions } from '../../src/pipeline/merged-source.ts';
import type { DraftPayload } from '../../src/pipeline/payload.ts';
import { previewPipeline } from '../../src/pipeline/preview-pipeline.ts';
import { runPipeline } from '../../src/pipeline/run-pipeline.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';
import type { Connector } from '../../src/sdk/connector.ts';
import type { Extraction } from '../../src/sdk/extraction.ts';
import { transformById } from '../transforms/rig.ts';
import { columns, connectorOf, extractOf, rig, temporaryFolder } from './rig.ts';

type Row = readonly [number, string];

/** Returns each row once; its watermark is the number of rows. */
function source(rows: readonly Row[], more: Partial<Extraction> = {}): Connector {
  return {
    ...connectorOf(async function* () {}),
    extract: async ({ watermark = '0' }) => {
      const fresh = rows.slice(Number(watermark));
      return {
        columns,
        batches: (async function* () {
          if (fresh.length > 0) yield batchOf(columns, fresh);
        })(),
        watermark: () => String(rows.length),
        unchanged: () => fresh.length === 0,
        ...more,
      };
    },
  };
}

/** Runs of a job, one after another, as the daemon would start them. */
function job(more: Partial<Extract> = {}, said: Partial<Extraction> = {}) {
  const folder = join(temporaryFolder(), 'sets');
  let runs = 0;
  let last: { manifest?: DraftPayload['manifest']; watermark?: string } = {};
  const given = (rows: readonly Row[], keptRows: Partial<KeptRowsOptions> = {}) => {
    const extract = extractOf(source(rows, said), { write: { disposition: 'merge', key: ['id'] }, ...more });
    const { manifest, watermark } = last;
    return {
      ...rig(extract, { run: `r${++runs}` }).given,
      keptRows: {
        ...{ folder, run: `r${runs}`, mustSend: manifest === undefined },
        ...(manifest === undefined ? {} : { current: manifest }),
        ...keptRows,
      },
      ...(watermark === undefined ? {} : { watermark }),
    };
  };
  return {
    folder,
    given,
    run: async (rows: readonly Row[], keptRows: Partial<KeptRowsOptions> = {}) => {
      const result = await runPipeline(given(rows, keptRows));
      if ('unchanged' in result) return result;
      last = result;
      const { path } = await result.seal();
      return { text: await readFile(path, 'utf8'), rows: result.rows, watermark: result.watermark };
    },
  };
}

it('a run creates a payload with all kept rows, or no payload if nothing changed', async () => {
  const orders = job();
  const rows: Row[] = [
    [2, 'two'],
    [1, 'one'],
  ];
  expect(await orders.run(rows)).toEqual({ text: 'id|name\n1|one\n2|two\n.\n', rows: 2, watermark: '2' });
  expect(await orders.run(rows)).toEqual({ unchanged: true, watermark: '2' });
  rows.push([2, 'TWO']);
  expect(await orders.run(rows)).toMatchObject({ text: 'id|name\n1|one\n2|TWO\n.\n', watermark: '3' });
});

it('rows that a source may return again are rejected by a job that appends, and accepted by a job that merges', async () => {
  const again = { cursor: 'id', comesAgain: () => ({ why: 'too_many' as const }) };
  const appended = job({ write: { disposition: 'append', key: [] } }, again);
  await expect(appended.run([[1, 'one']])).rejects.toMatchObject({ code: 'SET_ROWS_AGAIN', where: { column: 'id' } });
  expect(await job({}, again).run([[1, 'one']])).toMatchObject({ rows: 1 });
});

it('a job that appends reports missing columns that it needs to recognize repeated rows, and the fix', async () => {
  const again = { cursor: 'id', comesAgain: () => ({ why: 'columns_gone' as const, columns: ['price'] }) };
  const appended = job({ write: { disposition: 'append', key: [] } }, again);
  await expect(appended.run([[1, 'one']])).rejects.toMatchObject({
    code: 'SET_ROWS_AGAIN',
    seen: 'lost, or of another type: "price"',
    next: expect.stringContaining('sluice state clear orders'),
  });
});

it('a run without changes creates a payload if the kept rows have to be sent anyway', async () => {
  const orders = job();
  await orders.run([[1, 'one']]);
  expect(await orders.run([[1, 'one']], { mustSend: true })).toMatchObject({ text: 'id|name\n1|one\n.\n' });
});

it('a run keeps all rows, even if its transforms select only the first one', async () => {
  const limit = { transform: transformById('limit'), given: 1 };
  const orders = job({ transforms: [limit] });
  const rows: Row[] = [
    [3, 'three'],
    [2, 'two'],
  ];
  expect(await orders.run(rows)).toEqual({ text: 'id|name\n2|two\n.\n', rows: 1, watermark: '2' });
  rows.push([1, 'one']);
  expect(await orders.run(rows)).toMatchObject({ text: 'id|name\n1|one\n.\n', watermark: '3' });
});

it("a preview returns the run's result without changing the kept rows", async () => {
  const orders = job();
  await orders.run([[1, 'one']]);
  const before = readdirSync(orders.folder, { recursive: true });
  const preview = await previewPipeline({
    ...orders.given([
      [1, 'one'],
      [2, 'two'],
    ]),
    rows: 5,
  });
  expect(preview.firstRows).toEqual([
    ['1', 'one'],
    ['2', 'two'],
  ]);
  expect(readdirSync(orders.folder, { recursive: true })).toEqual(before);
});

it("a run fails with the original error if a file can't be written", async () => {
  const orders = job();
  await orders.run([[1, 'one']]);
  const [run] = readdirSync(orders.folder);
  const refused = orders.run(
    [
      [1, 'one'],
      [2, 'two'],
    ],
    { folder: '/proc/nowhere', run: run! },
  );
  await expect(refused).rejects.toMatchObject({
    where: { job: 'orders' },
    family: expect.stringMatching(/config|try_later/),
  });
  expect(existsSync(join(orders.folder, run!))).toBe(true);
});

const compares = { write: { disposition: 'merge', key: ['id'], deletes: 'compare' } } as const;

/** Returns these keys, whose cursor is ten times the ID, then calls `end`. */
function keysOf(given: { ids: readonly number[]; end?: () => unknown; missing?: string[] }): Partial<Extraction> {
  const own: Column[] = [columns[0]!, { name: 'cursor', type: 'integer' }];
  return {
    readKeys: async () => ({
      columns: own,
      batches: (async function* () {
        yield batchOf(
          own,
          given.ids.map((one) => [one, 10 * one]),
        );
        await given.end?.();
      })(),
      onMissing: (cursor) => given.missing?.push(cursor),
    }),
  };
}

it('kept rows whose keys the source no longer has are deleted, even if there are no new rows', async () => {
  const keys = { ids: [1, 2] };
  const orders = job(compares, keysOf(keys));
  const rows: Row[] = [
    [1, 'one'],
    [2, 'two'],
  ];
  expect(await orders.run(rows)).toMatchObject({ rows: 2 });
  keys.ids = [2];
  expect(await orders.run(rows)).toMatchObject({ text: 'id|name\n2|two\n.\n', rows: 1 });
});

it('a source with all keys and no new row is unchanged, so nothing is written', async () => {
  const orders = job(compares, keysOf({ ids: [1] }));
  await orders.run([[1, 'one']]);
  const before = readdirSync(orders.folder, { recursive: true });
  expect(await orders.run([[1, 'one']])).toEqual({ unchanged: true, watermark: '1' });
  expect(readdirSync(orders.folder, { recursive: true })).toEqual(before);
});

describe('a list of keys that is not read to its end deletes nothing:', () => {
  const rows: Row[] = [
    [1, 'one'],
    [2, 'two'],
  ];
  const stop = new AbortController();

  it.each([
    ['an error', () => Promise.reject(new Error('the connection was lost')), 'the connection was lost'],
    ['a stop', () => stop.abort(new Error('the run was stopped')), 'the run was stopped'],
  ])('%s', async (_, end, message) => {
    const keys: Parameters<typeof keysOf>[0] = { ids: [1, 2] };
    const orders = job(compares, keysOf(keys));
    await orders.run(rows);
    Object.assign(keys, { ids: [1], end });
    await expect(runPipeline({ ...orders.given(rows), signal: stop.signal })).rejects.toThrow(message);
    Object.assign(keys, { ids: [1, 2, 3], end: undefined });
    expect(await orders.run([...rows, [3, 'three']])).toMatchObject({ rows: 3 });
  });
});

it('a source is told the lowest cursor of the keys for which the job has no row', async () => {
  const keys = { ids: [1, 2], missing: [] as string[] };
  const orders = job(compares, keysOf(keys));
  await orders.run([[1, 'one']]);
  await orders.run([[1, 'one']]);
  expect(keys.missing.at(-1)).toBe('20');
  keys.missing.length = 0;
  keys.ids = [1];
  await orders.run([[1, 'one']]);
  expect(keys.missing).toEqual([]);
});

it('no keys are read during a backfill, or by the first run', async () => {
  const orders = job(compares, { readKeys: () => Promise.reject(new Error('keys were read')) });
  await orders.run([[1, 'one']]);
  expect(await orders.run([[1, 'one']], { isHeld: true })).toMatchObject({ unchanged: true });
  await expect(orders.run([[1, 'one']])).rejects.toThrow('keys were read');
});
