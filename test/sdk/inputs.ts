import {
  type Batch,
  batchText,
  type Column,
  type RecordFormat,
  type RecordInput,
  readRecords,
  recordOptions,
  withDefaults,
} from '../../src/sdk/index.ts';

/** An input in memory, split into chunks of `size` bytes. Each opening returns a fresh copy. */
export function inputOf(content: string | Buffer, size = 1 << 20, name = 'input'): RecordInput {
  return {
    name,
    async *open() {
      const bytes = Buffer.from(content as string, 'utf8');
      for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
    },
  };
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: (string | null)[][];
}

/** The complete table that the readers return for these inputs. */
export async function readTable(
  inputs: RecordInput | readonly RecordInput[],
  format: RecordFormat,
  given: Record<string, unknown> = {},
): Promise<Table> {
  const settings = {
    ...withDefaults(recordOptions, given),
    format,
    inputColumn: given.inputColumn as string | undefined,
    blockBytes: given.blockBytes as number | undefined,
  };
  const { columns, batches } = await readRecords([inputs].flat(), settings);
  const rows: (string | null)[][] = [];
  for await (const batch of batches) rows.push(...rowsOf(batch, columns));
  return { columns, rows };
}

function rowsOf(batch: Batch, columns: readonly Column[]): (string | null)[][] {
  if (batch.columns !== columns) throw new Error('a batch has its own columns array');
  return batchText(batch);
}

/** Column names with their types, as one line. */
export function declared({ columns }: Table): string {
  return columns.map(({ name, type }) => `${name}:${type}`).join(' ');
}
