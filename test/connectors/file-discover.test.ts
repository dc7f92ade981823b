import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
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

it("suggests types and a delimiter that can read a CSV file's rows", async () => {
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

it('suggests text for numbers with leading zeros or plus signs, and for empty columns', async () => {
  const folder = await folderWith({ 'a.csv': 'zip,phone,none,big\n01234,+49123,,1234567890123456789012\n' });
  expect((await discover(folder))[0]!.columns).toEqual([
    { name: 'zip', type: 'text' },
    { name: 'phone', type: 'text' },
    { name: 'none', type: 'text' },
    { name: 'big', type: 'decimal' },
  ]);
});

it('detects local formats, encoding, titles and totals, and suggests a query that reads the table exactly', async () => {
  const lines = [
    'Umsatz;;;;;;',
    'Stand: 31.01.2025;;;;;;',
    '',
    'Tag;Kunde;Betrag;Menge;Quote;Geb;Zeit',
    '31.01.2025;Müller;1.234,56;1.000;12,5 %;01.02.70;1/31/2025 5:07 PM',
    '01.02.2025;Schön;-12,50;2.500;7 %;03.04.31;2/13/2025 12:00 AM',
    'Summe;;1.222,06;;;;',
    '(2 Zeilen)',
    '',
  ];
  const folder = await folderWith({ 'a.csv': Buffer.from(lines.join('\r\n'), 'latin1') });
  const [found] = await discover(folder);
  const query = {
    path: 'a.csv',
    encoding: 'windows-1252',
    delimiter: ';',
    skip_rows: 2,
    skip_footer: 2,
    types: {
      Tag: { type: 'date', format: 'dd.MM.yyyy' },
      Betrag: { type: 'decimal', format: '1.234,56' },
      Menge: { type: 'integer', format: '1.234,56' },
      Quote: { type: 'decimal', format: '1234,56 %' },
      Geb: { type: 'date', format: 'dd.MM.yy', first_year: 1950 },
      Zeit: { type: 'timestamp', format: 'M/d/yyyy h:mm a' },
    },
  };
  expect(found).toMatchObject({ query, notes: expect.arrayContaining([expect.stringContaining('is a guess')]) });
  const table = await extractTable(file, { source: {}, query: found!.query, folder });
  expect(table.rows).toEqual([
    ['2025-01-31', 'Müller', '1234.56', '1000', '0.125', '1970-02-01', '2025-01-31T17:07:00'],
    ['2025-02-01', 'Schön', '-12.50', '2500', '0.07', '2031-04-03', '2025-02-13T00:00:00'],
  ]);
});

it('names both possible formats if day and month, or thousands and decimals, are ambiguous', async () => {
  const folder = await folderWith({ 'a.csv': 'id,day,n\n1,01/02/2025,"1,234"\n2,03/04/2025,"5,678"\n' });
  const [found] = await discover(folder);
  expect(found!.query).toEqual({ path: 'a.csv', types: { id: 'integer' } });
  expect(found!.notes).toEqual([
    'day: day and month can\'t be told apart, so the column stays text; in `types`, declare either {type: date, format: "dd/MM/yyyy"} or {type: date, format: "MM/dd/yyyy"}.',
    'n: thousands and decimals can\'t be told apart, so the column stays text; in `types`, declare either {type: decimal, format: "1234,56"} or {type: integer, format: "1,234.56"}.',
  ]);
});

it("examines the end of a large file, and reports if it can't", async () => {
  const rows = Array.from({ length: 20_000 }, (_, r) => `${r + 1},0${(r % 9) + 1}/0${(r % 9) + 1}/2025\n`).join('');
  const text = `id,day\n${rows}20001,31/01/2025\nTotal,\n`;
  const folder = await folderWith({ 'a.csv': text, 'b.csv': gzipSync(text) });
  const [plain, packed] = await discover(folder);
  expect(plain!.query).toEqual({
    path: 'a.csv',
    skip_footer: 1,
    types: { id: 'integer', day: { type: 'date', format: 'dd/MM/yyyy' } },
  });
  expect((await extractTable(file, { source: {}, query: plain!.query, folder })).rows).toHaveLength(20_001);
  expect(packed!.notes).toContain("The end of the file wasn't examined; it may have a footer.");
});

it('treats only the last rows as a footer, and reports a row with the wrong width before other data', async () => {
  const folder = await folderWith({ 'a.csv': 'a,b\n1,2\n3\n5,6\n7,8\n', 'b.csv': 'a,b\nx,1\nTotal Oil,2\n' });
  const [ragged, named] = await discover(folder);
  expect(ragged).toMatchObject({ query: { path: 'a.csv' }, problem: { code: 'CSV_RAGGED' } });
  expect(named!.query).toEqual({ path: 'b.csv', types: { b: 'integer' } });
});

it.each<[string, string | Buffer, object]>([
  ['a file without a header', '1,x\n2,y\n', { header: false, types: { column1: 'integer' } }],
  ['years as names', 'name,2023,2024\nx,1,2\n', { types: { '2023': 'integer', '2024': 'integer' } }],
  ['a line that names the delimiter', 'sep=|\na|b\n1|x\n', { types: { a: 'integer' } }],
  [
    'UTF-16 without a byte-order mark',
    Buffer.from('a,b\n1,x\n', 'utf16le'),
    { encoding: 'utf-16le', types: { a: 'integer' } },
  ],
  ['a DOS code page', Buffer.from('a,b\n1,M\x81ller\n', 'latin1'), { encoding: 'cp850', types: { a: 'integer' } }],
  [
    'quoted delimiters and line breaks',
    'a;b\n"x;\ny";1,5\n"z,z";2,5\n',
    { delimiter: ';', types: { b: { type: 'decimal', format: '1234,56' } } },
  ],
  [
    'epochs by name',
    'id,created_at\n1,1700000000\n',
    { types: { id: 'integer', created_at: { type: 'timestamptz', format: 'epoch' } } },
  ],
  ['json lines', '{"a":1}\n{"a":2}\n', { format: 'jsonl' }],
  ['json', '[{"a":1}]', { format: 'json' }],
  ['xml', '<r><x><d>31.01.2025</d></x></r>', { format: 'xml', types: { d: { type: 'date', format: 'dd.MM.yyyy' } } }],
])('recognizes %s without an extension, and can read it', async (_, content, options) => {
  const folder = await folderWith({ data: content });
  const [found] = await discover(folder, 'data');
  expect(found!.problem).toBeUndefined();
  expect(found!.query).toEqual({ path: 'data', format: 'csv', ...options });
  const table = await extractTable(file, { source: {}, query: found!.query, folder });
  expect(table.rows.length).toBeGreaterThan(0);
});

it("lists a workbook's visible sheets, each with its own query", async () => {
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

it("throws the abort's reason instead of reporting a broken file", async () => {
  const folder = await folderWith({ 'a.csv': 'x\n1\n' });
  const stop = new AbortController();
  const context = contextOf(file, { source: {}, query: { path: '' }, folder, signal: stop.signal });
  const found = file.discover!(context);
  stop.abort(new Error('enough'));
  await expect(found).rejects.toThrow('enough');
});

it('lists exactly the files that match a pattern, and none in an empty folder', async () => {
  const folder = await folderWith({ 'a.csv': 'x\n1\n', 'b.csv': 'x\n1\n' });
  expect((await discover(folder, 'b*')).map(({ name }) => name)).toEqual(['b.csv']);
  await expect(discover(folder, 'c*')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  expect(await discover(await folderWith({}))).toEqual([]);
});

it("lists a service's streams without sending a request", async () => {
  const context = contextOf(hubspot, { source: {}, query: {}, folder: '/nowhere' });
  const found = await hubspot.discover!({ ...context, pattern: 'contact*' });
  expect(found.length).toBeGreaterThan(0);
  for (const { kind, name, query } of found) expect([kind, query]).toEqual(['stream', { stream: name }]);
});

describeWithFileServer({ server: 'ProFTPD' }, 'files on a server', (server) => {
  const folder = ownFolder();

  it('are listed by name, and with their columns if a pattern selects them', async () => {
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
