import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostileNames, hostileValues } from '#sdk/testing';

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const line = (cells: readonly string[]) => `${cells.map(quoted).join(',')}\n`;

/** Rows of `many.csv`. */
export const manyRows = 14_000;

/** What connectors that read files must return for `orders.csv`. */
export const orders = {
  types: { id: 'integer', day: 'date', paid: 'decimal' },
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'day', type: 'date' },
    { name: 'paid', type: 'decimal' },
  ],
  rows: [
    ['1', '2026-01-31', '1.50'],
    ['2', null, null],
  ],
} as const;

/** Writes the files that the standard suite needs: `orders.csv`, `hostile.csv` and `many.csv`. */
export async function putOrders(folder: string): Promise<void> {
  await writeFile(join(folder, 'orders.csv'), 'id,day,paid\n1,2026-01-31,1.50\n2,,\n');
  const hostile = hostileValues.map((value) => line(hostileNames.map(() => value)));
  await writeFile(join(folder, 'hostile.csv'), line(hostileNames) + hostile.join(''));
  const many = join(folder, 'many.csv');
  await writeFile(many, 'id,name,note\n');
  for (let from = 0; from < manyRows; from += 2_000) {
    const lines = Array.from({ length: 2_000 }, (_, i) => `${from + i},name ${from + i},${'note '.repeat(240)}\n`);
    await appendFile(many, lines.join(''));
  }
}
