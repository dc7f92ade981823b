import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import writeXlsxFile from 'write-excel-file/node';
import file from '../../connectors/file/index.ts';
import ftp from '../../connectors/ftp/index.ts';
import hubspot from '../../connectors/hubspot.ts';
import { describeWithFileServer } from '../servers/describe-file-servers.ts';
import { clearFiles, ftpContext, ownFolder, putFile } from './ftp-harness.ts';
import { plainLogin } from './ftp-logins.ts';
import { contextOf, extractTable } from './harness.ts';

async function folderWith(files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-discover-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}

function discover(folder: string, pattern?: string) {
  const context = contextOf(file, { source: {}, query: { path: '' }, folder });
  return file.discover!({ ...context, ...(pattern === undefined ? {} : { pattern }) });
}

it('suggests types and the delimiter of a csv file, and its rows can be read with them', async () => {
  const rows = '1;1.50;2026-01-31;2026-01-31 08:00;true;01234;a\n-2;7;2026-02-01;2026-02-01 09:00;FALSE;99999;1\n';
  const folder = await folderWith({ 'a.csv': `id;net;day;at;paid;zip;note\n${rows}` });
  const [found, ...others] = await discover(folder);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ name: 'a.csv', kind: 'file' });
  const types = { id: 'integer', net: 'decimal', day: 'date', at: 'timestamp', paid: 'boolean' };
  expect(found!.query).toEqual({ path: 'a.csv', delimiter: ';', types });
  const table = await extractTable(file, { source: {}, query: found!.query, folder });
  expect(table.columns).toEqual(found!.columns);
  expect(table.rows[0]).toEqual(['1', '1.50', '2026-01-31', '2026-01-31T08:00:00', 'true', '01234', 'a']);
});

it('keeps text for numbers with leading zeros or plus signs, and for columns without values', async () => {
  const folder = await folderWith({ 'a.csv': 'zip,phone,none,big\n01234,+49123,,1234567890123456789012\n' });
  expect((await discover(folder))[0]!.columns).toEqual([
    { name: 'zip', type: 'text' },
    { name: 'phone', type: 'text' },
    { name: 'none', type: 'text' },
    { name: 'big', type: 'decimal' },
  ]);
});

it('lists the visible sheets of a workbook, each with its own query', async () => {
  const sheet = (name: string) => ({ sheet: name, data: [[{ value: name }], [{ value: 1 }]] });
  const book = await writeXlsxFile([sheet('Orders'), sheet('Stock')]).toBuffer();
  const folder = await folderWith({ 'book.xlsx': book });
  expect(await discover(folder)).toEqual([
    {
      name: 'book.xlsx#Orders',
      kind: 'sheet',
      columns: [{ name: 'Orders', type: 'integer' }],
      query: { path: 'book.xlsx', sheet: 'Orders' },
    },
    {
      name: 'book.xlsx#Stock',
      kind: 'sheet',
      columns: [{ name: 'Stock', type: 'integer' }],
      query: { path: 'book.xlsx', sheet: 'Stock' },
    },
  ]);
});

it('reports a broken file with its error, and still lists the others', async () => {
  const folder = await folderWith({ 'a.json': '{', 'b.json': '[{"n":1}]', 'c.xlsx': 'no workbook', 'notes.txt': 'x' });
  const found = await discover(folder);
  expect(found.map(({ name, problem, columns }) => [name, problem?.code, columns?.length])).toEqual([
    ['a.json', 'JSON_TRUNCATED', undefined],
    ['b.json', undefined, 1],
    ['c.xlsx', 'RECORDS_ZIP', undefined],
  ]);
});

it('ends with the reason of an abort instead of a broken file', async () => {
  const folder = await folderWith({ 'a.csv': 'x\n1\n' });
  const stop = new AbortController();
  const context = contextOf(file, { source: {}, query: { path: '' }, folder, signal: stop.signal });
  const found = file.discover!(context);
  stop.abort(new Error('enough'));
  await expect(found).rejects.toThrow('enough');
});

it('reads exactly the files of a pattern, and an empty folder has none', async () => {
  const folder = await folderWith({ 'a.csv': 'x\n1\n', 'b.csv': 'x\n1\n' });
  expect((await discover(folder, 'b*')).map(({ name }) => name)).toEqual(['b.csv']);
  await expect(discover(folder, 'c*')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  expect(await discover(await folderWith({}))).toEqual([]);
});

it('lists the streams of a service without a request', async () => {
  const context = contextOf(hubspot, { source: {}, query: {}, folder: '/nowhere' });
  const found = await hubspot.discover!({ ...context, pattern: 'contact*' });
  expect(found.length).toBeGreaterThan(0);
  for (const { kind, name, query } of found) expect([kind, query]).toEqual(['stream', { stream: name }]);
});

describeWithFileServer({ server: 'ProFTPD' }, 'files on a server', (server) => {
  const folder = ownFolder();

  it('are listed by name, and with columns if a pattern names them', async () => {
    await clearFiles(server());
    await putFile(server(), 'a.csv', 'id,name\n1,x\n');
    await putFile(server(), 'b.bin', 'x');
    const context = ftpContext({ source: await plainLogin(server(), folder()), query: { path: '*' } }, folder());
    const base = { name: 'a.csv', kind: 'file' };
    expect(await ftp.discover!(context)).toEqual([{ ...base, query: { path: 'a.csv' } }]);
    expect(await ftp.discover!({ ...context, pattern: 'a*' })).toEqual([
      {
        ...base,
        columns: [
          { name: 'id', type: 'integer' },
          { name: 'name', type: 'text' },
        ],
        query: { path: 'a.csv', types: { id: 'integer' } },
      },
    ]);
  });
});
