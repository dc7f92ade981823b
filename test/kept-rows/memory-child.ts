import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../../src/kept-rows/manifest.ts';
import { MergeRun } from '../../src/kept-rows/merge-run.ts';
import type { Batch } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';

/**
 * Adds this many rows to a set in random order, then changes some, or with `keys`, deletes those of which a list of keys
 * has only nine in ten. Prints the number of rows and the peak memory in megabytes.
 */
const [folder = '', count = '', what = 'rows'] = process.argv.slice(2);
const rows = Number(count);
const columns: readonly Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'note', type: 'text' },
];
const keyColumns: readonly Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'the cursor', type: 'integer' },
];
const batchRows = 1000;

/** A step that is coprime with the number of rows, so that each row is visited once. */
const step = 982_451_653n;

const idsAt = (from: number): number[] =>
  Array.from({ length: batchRows }, (_, i) => Number((BigInt(from + i) * step) % BigInt(rows)));

function keysAt(from: number): Batch {
  const ids = idsAt(from).filter((id) => id % 10 !== 0);
  return { columns: keyColumns, length: ids.length, cells: [ids, ids].map((values) => ({ kind: 'values', values })) };
}

function batchAt(from: number): Batch {
  const ids = idsAt(from);
  const values = [ids, ids.map((id) => `a note on row ${id}, long enough to weigh something ${'.'.repeat(id % 60)}`)];
  return { columns, length: batchRows, cells: values.map((column) => ({ kind: 'values', values: column })) };
}

interface Run {
  readonly current?: Manifest;
  readonly upTo?: number;
  readonly keys?: number;
}

async function run(name: string, { current, upTo = 0, keys = 0 }: Run): Promise<Manifest> {
  const scratch = join(folder, `scratch-${name}`);
  mkdirSync(scratch);
  const rule = { disposition: 'merge', key: ['id'] } as const;
  const known = current === undefined ? {} : { current };
  const set = new MergeRun({ rule, folder, run: name, scratch, asOf: Date.now(), zone: 'UTC', ...known });
  set.begin({ columns });
  for (let from = 0; from < upTo; from += batchRows) await set.take(batchAt(from));
  if (keys > 0) set.beginKeys(keyColumns);
  for (let from = 0; from < keys; from += batchRows) await set.takeKeys(keysAt(from));
  if (keys > 0) await set.endKeys();
  await set.merge();
  const manifest = await set.seal();
  await set.close();
  return manifest;
}

const current = await run('first', { upTo: rows });
const second = await run('second', { current, ...(what === 'keys' ? { keys: rows } : { upTo: rows / 10 }) });
process.stdout.write(JSON.stringify({ rows: second.rows, peakMb: process.resourceUsage().maxRSS / 1024 }));
