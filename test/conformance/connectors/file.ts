import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { World } from '#sdk/testing';
import { manyRows, orders, putOrders } from '../order-files.ts';

const world: World = {
  waived: { credentials: 'the system lets us read a file or it does not' },
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-world-'));
    await putOrders(folder);
    await writeFile(join(folder, 'day-1.csv'), 'x\n1\n');
    await writeFile(join(folder, 'orders-1.csv.gz'), gzipSync('id,day\n1,2026-01-31\n'));
    return {
      folder,
      source: {},
      query: { path: 'orders.csv', types: orders.types },
      columns: orders.columns,
      rows: orders.rows,
      refused: [
        { query: { path: undefined }, option: 'path' },
        { query: { delimiter: '' }, option: 'delimiter' },
        { query: { encoding: 'klingon' }, option: 'encoding' },
        { source: { folders: 'x' }, option: 'folders' },
      ],
      unreachable: { source: { folder: 'not-there' }, family: 'job' },
      hostile: { query: { path: 'hostile.csv', types: undefined } },
      resume: {
        query: { path: 'day-*.csv', files: 'changed', types: undefined },
        async grow() {
          await writeFile(join(folder, 'day-2.csv'), 'x\n2\n');
          return [['2']];
        },
      },
      many: { query: { path: 'many.csv', types: { id: 'integer' } }, rows: manyRows },
      close: () => rm(folder, { recursive: true }),
    };
  },
};
export default world;
