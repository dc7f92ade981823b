import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareTables } from '../../src/compare/compare-tables.ts';
import { PayloadTable } from '../../src/formats/payload-table.ts';

/** Compares a table of this many rows with one that lacks the first third of them; prints the result. */
const [folder = '', count = ''] = process.argv.slice(2);
const rows = Number(count);

function open(name: string, from: number): Promise<PayloadTable> {
  const path = join(folder, name);
  appendFileSync(path, 'id,customer,amount\n');
  for (let at = from; at < rows; at += 1000) {
    const ids = Array.from({ length: Math.min(1000, rows - at) }, (_, i) => at + i);
    appendFileSync(path, ids.map((id) => `${id},customer ${id % 1000},${id % 77}.25\n`).join(''));
  }
  return PayloadTable.open({ path, format: 'csv', options: {} });
}

const tables = { last: await open('last', 0), now: await open('now', rows / 3) };
const { by, added, removed, changed } = await compareTables(tables, { folder, maxBytes: 1024 * 1024 });
process.stdout.write(JSON.stringify({ by, added, removed, changed }));
