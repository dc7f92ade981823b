import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { hostileNames, hostileValues, type World } from '#sdk/testing';

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const line = (cells: readonly string[]) => `${cells.map(quoted).join(',')}\n`;

const rows = 200_000;

async function putMany(path: string): Promise<void> {
  await writeFile(path, 'id,name,note\n');
  for (let from = 0; from < rows; from += 20_000) {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${from + i},name ${from + i},${'note '.repeat(24)}\n`);
    await appendFile(path, lines.join(''));
  }
}

const world: World = {
  waived: { credentials: 'the system lets us read a file or it does not' },
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-world-'));
    await writeFile(join(folder, 'orders.csv'), 'id,day,paid\n1,2026-01-31,1.50\n2,,\n');
    await writeFile(
      join(folder, 'hostile.csv'),
      line(hostileNames) + hostileValues.map((value) => line(hostileNames.map(() => value))).join(''),
    );
    await writeFile(join(folder, 'orders-1.csv.gz'), gzipSync('id,day\n1,2026-01-31\n'));
    await putMany(join(folder, 'many.csv'));
    return {
      folder,
      source: {},
      query: { path: 'orders.csv', types: { id: 'integer', day: 'date', paid: 'decimal' } },
      columns: [
        { name: 'id', type: 'integer' },
        { name: 'day', type: 'date' },
        { name: 'paid', type: 'decimal' },
      ],
      rows: [
        ['1', '2026-01-31', '1.50'],
        ['2', null, null],
      ],
      refused: [
        { query: { path: undefined }, option: 'path' },
        { query: { delimiter: '' }, option: 'delimiter' },
        { query: { encoding: 'klingon' }, option: 'encoding' },
        { source: { folders: 'x' }, option: 'folders' },
      ],
      nobody: { source: { folder: 'not-there' }, family: 'job' },
      hostile: { query: { path: 'hostile.csv', types: undefined } },
      many: { query: { path: 'many.csv', types: { id: 'integer' } }, rows },
      close: () => rm(folder, { recursive: true }),
    };
  },
};
export default world;
