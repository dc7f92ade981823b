import assert, { fail } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { batchText } from '../batch.ts';
import { checkBatch, checkColumns } from '../batch-contract.ts';
import { withDefaults } from '../option.ts';
import type { Bench, Table } from './bench.ts';
import type { Promised } from './check.ts';

type Row = readonly (string | null)[];

/** Checks {@link Connector.readsKeys}: the list of keys is complete, and a row that is missing is read again. */
export const comparedKeysCheck: Promised = {
  name: 'lists the keys of all rows for a job that compares them, and reads a missing row again',
  needs: 'resume',
  look: listsKeys,
};

async function listsKeys(bench: Bench): Promise<void> {
  const { connector, place } = bench;
  const resume = place.resume!;
  if (connector.readsKeys?.(withDefaults(connector.query, bench.given(resume).query)) !== true) return;
  const { key } = resume;
  if (key === undefined) fail('the connector declares "readsKeys", but the "resume" part names no key');
  const all = await bench.read(resume);
  const { keys, watermark } = await compare(bench, key, all);
  const wanted = all.rows.map((row) => keyOf(row, key, all));
  assert.deepEqual(keys.toSorted(byText), wanted.toSorted(byText), 'the list has other keys than the rows');
  const [missing] = keys;
  const again = await bench.read(resume, { watermark });
  const isReadAgain = again.rows.some((row) => isDeepStrictEqual(keyOf(row, key, again), missing));
  assert.ok(isReadAgain, `the job lacks the row with key ${JSON.stringify(missing)}, but the next run did not read it`);
}

/** Runs a job that has all rows but the first one of the list. */
function compare(
  bench: Bench,
  key: readonly string[],
  all: Table,
): Promise<{ readonly keys: readonly Row[]; readonly watermark: string | undefined }> {
  const { watermark } = all;
  return bench.extracting(bench.place.resume, { watermark, comparedKey: key }, async (extraction) => {
    for await (const batch of extraction.batches) checkBatch(batch, extraction.columns);
    const list = await extraction.readKeys?.();
    if (list === undefined) fail('the connector declares "readsKeys", but its extract has no "readKeys"');
    checkColumns(list.columns);
    const declared = key.map((name) => all.columns.find((column) => column.name === name));
    assert.deepEqual(list.columns.slice(0, -1), declared, 'the list has other columns than the key and a cursor');
    const rows: Row[] = [];
    for await (const batch of list.batches) {
      checkBatch(batch, list.columns);
      rows.push(...batchText(batch));
    }
    assert.ok(rows.length > 0, 'the list of keys is empty');
    list.onMissing(rows[0]!.at(-1)!);
    return { keys: rows.map((row) => row.slice(0, -1)), watermark: extraction.watermark?.() };
  });
}

function keyOf(row: Row, key: readonly string[], { columns }: Table): Row {
  return key.map((name) => row[columns.findIndex((column) => column.name === name)]!);
}

function byText(one: Row, other: Row): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
