import { expect } from 'vitest';
import { Problem } from '../../src/lib/problem.ts';
import { type Batch, type ByteCells, batchText, type Value, valueText } from '../../src/sdk/batch.ts';
import type { Column, ColumnType } from '../../src/sdk/column.ts';
import { transforms } from '../../src/transforms/index.ts';
import type { Prepared, PreparedExpansion, Transform } from '../../src/transforms/transform.ts';

export const columnsOf = (types: Readonly<Record<string, ColumnType>>): Column[] =>
  Object.entries(types).map(([name, type]) => ({ name, type }));

/** A batch as a driver creates it: all cells in one buffer, with spans. */
export function bytesBatch(columns: readonly Column[], rows: readonly (readonly Value[])[]): Batch {
  const spans = new Int32Array(2 * rows.length * columns.length);
  const pieces: Buffer[] = [];
  let used = 0;
  for (const [r, row] of rows.entries()) {
    for (const [c, column] of columns.entries()) {
      const text = valueText(row[c] ?? null, column.type);
      const piece = Buffer.from(text ?? '');
      const at = 2 * (r * columns.length + c);
      spans[at] = text === null ? -1 : used;
      used += piece.length;
      spans[at + 1] = used;
      pieces.push(piece);
    }
  }
  const bytes = Buffer.concat(pieces);
  const cells = columns.map((_, slot): ByteCells => ({ kind: 'bytes', bytes, spans, stride: columns.length, slot }));
  return { columns, cells, length: rows.length };
}

export function transformById(id: string): Transform {
  return transforms.find((transform) => transform.id === id)!;
}

export function prepare(id: string, given: unknown, columns: readonly Column[]): Prepared {
  return transformById(id).prepare(given, columns) as Prepared;
}

/** The text that a transform outputs for batches of these rows. */
export function outcome(prepared: Prepared | PreparedExpansion, ...batches: readonly Batch[]): (string | null)[][] {
  const out: Batch[] = [];
  let before = 0;
  for (const batch of batches) {
    const shaped = 'expand' in prepared ? prepared.expand(batch, before) : [prepared.apply(batch, before)];
    for (const one of shaped) if (one !== null) out.push(one);
    before += batch.length;
  }
  out.push(...(prepared.finish?.() ?? []));
  for (const batch of out) expect(batch.columns).toBe(prepared.columns);
  return out.flatMap(batchText);
}

/** One computed value, as text. */
export function computed(
  expression: string | object,
  types: Record<string, ColumnType>,
  row: readonly Value[],
): string | null {
  const columns = columnsOf(types);
  const prepared = prepare('compute', { it: expression }, columns);
  return outcome(prepared, bytesBatch(columns, [row]))[0]!.at(-1)!;
}

export function problemOf(work: () => unknown): Problem {
  try {
    work();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Problem);
    return thrown as Problem;
  }
  return expect.fail('it did not fail');
}
