import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { compareTables, type TableDifference } from '../../src/compare/compare-tables.ts';
import { type PayloadFile, PayloadTable } from '../../src/formats/payload-table.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';
import { encode } from '../formats/encoding.ts';

export type Cells = readonly (string | null)[];

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Cells[];
  readonly types?: Readonly<Record<string, Column['type']>>;
}

export interface Way {
  readonly format?: PayloadFile['format'];
  readonly options?: PayloadFile['options'];
  readonly key?: readonly string[];
  readonly maxBytes?: number;
}

/** A folder for the running test. */
export function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-compare-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Encodes both tables as payloads, and compares the files. */
export async function compared(last: Table, now: Table, way: Way = {}): Promise<TableDifference> {
  const folder = folderOfTest();
  const { key, maxBytes, ...encoding } = way;
  const tables = {
    last: await PayloadTable.open(write(join(folder, 'last'), last, encoding)),
    now: await PayloadTable.open(write(join(folder, 'now'), now, encoding)),
  };
  return compareTables(tables, { folder, key, ...(maxBytes === undefined ? {} : { maxBytes }) });
}

/** Writes a table in one of our formats. */
export function write(
  path: string,
  { columns, rows, types = {} }: Table,
  way: Pick<Way, 'format' | 'options'>,
): PayloadFile {
  const { format = 'csv', options = {} } = way;
  const typed = columns.map((name): Column => ({ name, type: types[name] ?? 'text' }));
  writeFileSync(path, encode(format, [batchOf(typed, rows)], options));
  return { path, format, options };
}
