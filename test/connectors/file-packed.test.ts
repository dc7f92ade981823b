import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import writeXlsxFile from 'write-excel-file/node';
import { batchText, type RunWarning } from '#sdk';
import file from '../../connectors/file/index.ts';
import { mainSpace, putBook, type SheetParts, zipOf } from '../sdk/archives.ts';
import { findProgram } from '../servers/server.ts';
import { contextOf, extractTable } from './harness.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-packed-'));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const put = (name: string, content: string | Buffer) => writeFile(join(folder, name), content);
const extract = (query: Record<string, unknown>) => extractTable(file, { source: {}, query, folder });

describe('a zstd file', () => {
  const frames = ['x\n1\n', '2\n', '3\n'].map((text) => zstdCompressSync(text));

  it('is recognized by its bytes, and all its frames are read', async () => {
    for (const name of ['a.csv.zst', 'b.tsv.zst', 'c.csv']) {
      await put(name, Buffer.concat(frames));
      expect((await extract({ path: name })).rows).toEqual([['1'], ['2'], ['3']]);
    }
    await put('d.zip', await zipOf({ 'd.csv.zst': Buffer.concat(frames) }));
    expect((await extract({ path: 'd.zip' })).rows).toEqual([['1'], ['2'], ['3']]);
  });

  it('that is truncated or damaged is refused', async () => {
    const whole = Buffer.concat(frames);
    const damaged = [
      whole.subarray(0, -2),
      whole.subarray(0, frames[0]!.length + 5),
      Buffer.concat([whole, whole.subarray(1)]),
    ];
    for (const bytes of damaged) {
      await put('a.csv', bytes);
      await expect(extract({ path: 'a.csv' })).rejects.toMatchObject({
        code: 'RECORDS_ZSTD',
        where: { file: /a\.csv$/ },
      });
    }
  });

  it.runIf(findProgram('zstd') !== undefined)(
    'written by the zstd program is read, from a pipe and with several threads',
    async () => {
      const lines = Array.from({ length: 300_000 }, (_, i) => `${i},${i % 97}`);
      await put('all.csv', `a,b\n${lines.join('\n')}\n`);
      for (const flags of [['-1'], ['-19', '--long', '-T2', '-B512K'], ['--no-check', '--fast']]) {
        const { status } = spawnSync('zstd', ['-qf', ...flags, 'all.csv', '-o', 'packed.csv.zst'], { cwd: folder });
        expect(status).toBe(0);
        expect((await extract({ path: 'packed.csv.zst' })).rows).toHaveLength(lines.length);
      }
    },
  );
});

describe('a zip archive', () => {
  it('is read as the files in it, sorted by name, with their paths in a column', async () => {
    const members = { 'b.csv': 'x\n2\n', 'sub/a.csv.gz': gzipSync('x\n3\n'), 'a.csv': 'x\n1\n' };
    await put('all.zip', await zipOf({ ...members, '__MACOSX/._a.csv': 'no', '.DS_Store': 'no' }));
    expect((await extract({ path: 'all.zip', path_column: 'file' })).rows).toEqual([
      ['all.zip/a.csv', '1'],
      ['all.zip/b.csv', '2'],
      ['all.zip/sub/a.csv.gz', '3'],
    ]);
  });

  it('is recognized by its bytes, and its files can be filtered', async () => {
    await put('export', await zipOf({ 'a[1].csv': 'x\n1\n', 'b.json': '[{"x":2}]', 'read.me': '' }));
    expect((await extract({ path: 'export', member: '*.json' })).rows).toEqual([['2']]);
    expect((await extract({ path: 'export', member: 'a[1].csv' })).rows).toEqual([['1']]);
    await expect(extract({ path: 'export' })).rejects.toMatchObject({ code: 'FILE_FORMAT', family: 'config' });
    const none = { code: 'RECORDS_ARCHIVE_EMPTY', seen: '*.xml', allowed: 'a[1].csv, b.json, read.me' };
    await expect(extract({ path: 'export', member: '*.xml' })).rejects.toMatchObject(none);
  });

  it("fails the run, without a partial table, if it's damaged, truncated or not an archive", async () => {
    const text = `x\n${Array.from({ length: 5000 }, (_, i) => `${i * 7919}\n`).join('')}`;
    const whole = await zipOf({ 'a.csv': text });
    await put('cut.zip', whole.subarray(0, whole.length - 100));
    const flipped = Buffer.from(whole);
    flipped[2000]! ^= 0x10;
    await put('flipped.zip', flipped);
    for (const path of ['cut.zip', 'flipped.zip']) {
      await expect(extract({ path }), path).rejects.toMatchObject({
        code: expect.stringMatching(/^(RECORDS_ZIP|CSV_)/),
      });
    }
  });

  it("isn't read at all if it claims an impossible size", async () => {
    const bomb = await zipOf({ 'a.csv': 'x\n1\n' });
    // Sets the size in the file's entry of the archive's central directory.
    bomb.writeUInt32LE(0xf0000000, bomb.indexOf(Buffer.from('PK\x01\x02', 'latin1')) + 24);
    await put('bomb.zip', bomb);
    const refusal = { code: 'RECORDS_ARCHIVE_BOMB', message: expect.stringContaining('unpack to far more') };
    await expect(extract({ path: 'bomb.zip' })).rejects.toMatchObject(refusal);
  });
});

describe('a workbook', () => {
  const book = (parts: SheetParts) => putBook(join(folder, 'a.xlsx'), parts);
  const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
  const row = (...cells: string[]) => `<row>${cells.join('')}</row>`;
  const number = (value: string, style = 0) => `<c s="${style}"><v>${value}</v></c>`;

  it('is read with types that also fit the rows that the job keeps', async () => {
    await book({
      rows:
        row(text('a'), text('b'), text('c'), text('d')) +
        row(number('7'), number('45000', 1), '<c/>', number('45001', 1)),
      formats: ['yyyy-mm-dd'],
    });
    const keptColumns = Object.entries({ a: 'text', b: 'timestamp', c: 'integer', d: 'decimal' } as const).map(
      ([name, type]) => ({ name, type, seen: name !== 'd' }),
    );
    const context = contextOf(file, { source: {}, query: { path: 'a.xlsx' }, folder });
    const { columns, batches } = await file.extract({ ...context, keptColumns });
    const rows: (string | null)[][] = [];
    for await (const batch of batches) rows.push(...batchText(batch));
    expect({ columns, rows }).toEqual({
      columns: [
        { name: 'a', type: 'text' },
        { name: 'b', type: 'timestamp' },
        { name: 'c', type: 'integer' },
        { name: 'd', type: 'date' },
      ],
      rows: [['7', '2023-03-15T00:00:00', null, '2023-03-16']],
    });
  });

  it('written by another program is read with its values and types', async () => {
    const schema = ['id', 'name', 'paid', 'at', 'ok'].map((value) => ({ value }));
    const at = new Date(Date.UTC(2026, 0, 31, 8, 15, 30));
    const data = [
      schema,
      [
        { type: Number, value: 1 },
        { type: String, value: 'Ä & <b>' },
        { type: Number, value: 0.1 },
        { type: Date, value: at, format: 'yyyy-mm-dd hh:mm:ss' },
        { type: Boolean, value: true },
      ],
      [{ type: Number, value: 2 }, null, { type: Number, value: 7 }, null, { type: Boolean, value: false }],
    ];
    const path = join(folder, 'other.xlsx');
    const written = await (writeXlsxFile as unknown as (rows: unknown) => { toFile(path: string): Promise<void> })(
      data,
    );
    await written.toFile(path);
    expect(await extract({ path: 'other.xlsx' })).toEqual({
      columns: [
        { name: 'id', type: 'integer' },
        { name: 'name', type: 'text' },
        { name: 'paid', type: 'decimal' },
        { name: 'at', type: 'timestamp' },
        { name: 'ok', type: 'boolean' },
      ],
      rows: [
        ['1', 'Ä & <b>', '0.1', '2026-01-31T08:15:30', 'true'],
        ['2', null, '7', null, 'false'],
      ],
    });
  });

  it('keeps numbers as written, and binary numbers in the shortest notation', async () => {
    const written = ['12345678901234567890', '0.10000000000000001', '1.50', '1E+3', '1.1000000000000001', '-0.0', '.5'];
    await book({ rows: row(text('n')) + written.map((value) => row(number(value))).join('') });
    const { columns, rows } = await extract({ path: 'a.xlsx' });
    expect(columns).toEqual([{ name: 'n', type: 'decimal' }]);
    expect(rows.flat()).toEqual(['12345678901234567890', '0.1', '1.5', '1000', '1.1', '0', '0.5']);
  });

  it('has integers even if the program that wrote it adds zeros after the decimal point', async () => {
    const written = ['1.0', '20', '-3.00', '1.0E7'];
    await book({ rows: row(text('n')) + written.map((value) => row(number(value))).join('') });
    expect(await extract({ path: 'a.xlsx' })).toEqual({
      columns: [{ name: 'n', type: 'integer' }],
      rows: [['1'], ['20'], ['-3'], ['10000000']],
    });
    await book({ rows: row(text('customer')) + row(number('1007.0')) + row(text('A-12')) });
    expect((await extract({ path: 'a.xlsx' })).rows).toEqual([['1007'], ['A-12']]);
  });

  it('keeps its date system even if an Excel extension has a similar element in another namespace', async () => {
    const days = { rows: row(text('d')) + row(number('43889', 1)), formats: ['yyyy-mm-dd'] };
    const uri = 'xmlns:x15="http://schemas.microsoft.com/office/spreadsheetml/2010/11/main"';
    const extension = `<x15:workbookPr ${uri} chartTrackingRefBase="1"/>`;
    const lists = [
      `<extLst><ext uri="{140A7094-0E35-4892-8432-C4D2E57EDEB5}">${extension}</ext></extLst>`,
      `<extLst><ext uri="{140A7094-0E35-4892-8432-C4D2E57EDEB5}"><workbookPr/></ext></extLst>`,
      extension,
    ];
    for (const list of lists) {
      await book({ ...days, book: `<workbookPr date1904="1"/>${list}` });
      expect((await extract({ path: 'a.xlsx' })).rows, list).toEqual([['2024-02-29']]);
    }
  });

  it('has inline strings without their phonetics and formatting', async () => {
    const inline = (inside: string) => row(`<c t="inlineStr">${inside}</c>`);
    const rows = [
      '<is><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/></is>',
      '<v>1.0</v><is><t>1.</t></is>',
      '<is><t>2.</t></is><v>02.</v>',
      '<is><r><t>a</t></r><r><rPr><b/></rPr><t xml:space="preserve"> b</t></r></is>',
      '<v>only v</v>',
    ].map(inline);
    await book({ rows: row(text('t')) + rows.join('') });
    expect((await extract({ path: 'a.xlsx' })).rows.flat()).toEqual(['東京', '1.', '2.', 'a b', 'only v']);
  });

  it('is rejected if a formula was never calculated, unless its column is excluded', async () => {
    // Written by openpyxl 3.1, which doesn't calculate formulas. The columns are a, f (=A2*2) and t.
    await copyFile(new URL('books/openpyxl-formulas.xlsx', import.meta.url), join(folder, 'a.xlsx'));
    const refusal = { code: 'RECORDS_XLSX_FORMULA', where: { line: 2, column: 'f' }, seen: '=A2*2' };
    await expect(extract({ path: 'a.xlsx' })).rejects.toMatchObject(refusal);
    const others = { columns: [{ name: 'a' }, { name: 't' }], ignore_unknown: true };
    expect((await extract({ path: 'a.xlsx', ...others })).rows).toEqual([
      ['2', 'x'],
      ['3', null],
    ]);
    await book({ rows: row(text('t')) + row('<c t="str"><f>""</f><v></v></c>', '') + row('<c><f>1</f><v>1</v></c>') });
    expect((await extract({ path: 'a.xlsx' })).rows.flat()).toEqual(['1']);
    await book({ rows: row('<c><f>A9</f></c>') + row(number('1')) });
    await expect(extract({ path: 'a.xlsx' })).rejects.toMatchObject({ code: 'RECORDS_XLSX_FORMULA' });
  });

  it("has null in place of an Excel error, which causes a warning but doesn't change the column's type", async () => {
    const error = (name: string) => `<c t="e"><f>1/0</f><v>${name}</v></c>`;
    const rows = [row(number('5'), text('a')), row(error('#N/A'), text('b')), row(error('#DIV/0!'), error('#REF!'))];
    await book({ rows: row(text('v'), text('t')) + rows.join('') });
    const warnings: RunWarning[] = [];
    const query = { path: 'a.xlsx' };
    const table = await extractTable(file, { source: {}, query, folder, onWarning: (one) => warnings.push(one) });
    expect(table).toEqual({
      columns: [
        { name: 'v', type: 'integer' },
        { name: 't', type: 'text' },
      ],
      rows: [
        ['5', 'a'],
        [null, 'b'],
        [null, null],
      ],
    });
    expect(warnings).toMatchObject([
      {
        code: 'RECORDS_XLSX_ERRORS',
        message: 'a.xlsx: 2 cells with an Excel error in column "v" became null',
        seen: '#N/A in row 3',
      },
      { message: 'a.xlsx: 1 cell with an Excel error in column "t" became null', seen: '#REF! in row 4' },
    ]);
  });

  it('ends at its last column name, even if empty header cells after it are colored', async () => {
    await book({ rows: row(text('a'), text('b'), '<c s="1"/>', '<c s="1"/>') + row(number('1'), number('2')) });
    expect((await extract({ path: 'a.xlsx' })).columns.map(({ name }) => name)).toEqual(['a', 'b']);
    expect((await extract({ path: 'a.xlsx', columns: [{ name: 'b' }, { name: 'a' }] })).rows).toEqual([['2', '1']]);
  });

  it('can have parts in encodings other than UTF-8', async () => {
    const sheet = `<worksheet xmlns="${mainSpace}"><sheetData>${row(text('é'))}${row(text('ü€'))}</sheetData></worksheet>`;
    const encoded = {
      latin: Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${sheet.replace('€', '')}`, 'latin1'),
      utf16: Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${sheet}`, 'utf16le'),
    };
    await book({ rows: '', sheet: encoded.latin });
    expect(await extract({ path: 'a.xlsx' })).toEqual({ columns: [{ name: 'é', type: 'text' }], rows: [['ü']] });
    await book({ rows: '', sheet: encoded.utf16 });
    expect(await extract({ path: 'a.xlsx' })).toEqual({ columns: [{ name: 'é', type: 'text' }], rows: [['ü€']] });
    await book({ rows: '', sheet: Buffer.from(sheet, 'latin1') });
    await expect(extract({ path: 'a.xlsx' })).rejects.toMatchObject({
      code: 'RECORDS_ENCODING',
      message: expect.stringContaining('a.xlsx, xl/worksheets/data.xml'),
    });
  });

  it("has dates wherever a cell's format is a date, to the millisecond, in both date systems", async () => {
    const formats = ['yyyy\\-mm\\-dd', 'd/m/yy h:mm;@', '[$-409]h:mm AM/PM', '[h]:mm', '0.00 "days"'];
    const cells = [
      number('45688', 1),
      number('45688.34375', 2),
      number('0.5', 3),
      number('1.25', 4),
      number('2.50', 5),
    ];
    const names = row(...['d', 't', 'c', 'h', 'n'].map(text));
    await book({ rows: names + row(...cells), formats });
    const table = await extract({ path: 'a.xlsx' });
    expect(table.columns.map(({ type }) => type)).toEqual(['date', 'timestamp', 'time', 'decimal', 'decimal']);
    expect(table.rows).toEqual([['2025-01-31', '2025-01-31T08:15:00', '12:00:00', '1.25', '2.5']]);
    await book({ rows: names + row(...cells), formats, book: '<workbookPr date1904="1"/>' });
    expect((await extract({ path: 'a.xlsx' })).rows[0]![0]).toBe('2029-02-01');
    const early = ['1', '59', '60', '61', '45688.000011574'].map((value) => row(number(value, 1)));
    await book({ rows: row(text('d')) + early.join(''), formats });
    expect((await extract({ path: 'a.xlsx', types: { d: 'text' } })).rows.flat()).toEqual([
      '1900-01-01',
      '1900-02-28',
      '60',
      '1900-03-01',
      '2025-01-31T00:00:01',
    ]);
  });

  it('can contain shared strings, gaps and rich text, but its phonetics are omitted', async () => {
    const texts =
      '<si><t>a</t></si><si><r><t>b</t></r><r><t xml:space="preserve"> c</t></r><rPh><t>no</t></rPh></si><si><t>x_x000D_y</t></si>';
    const rows = [
      '<row r="2"><c r="B2" t="s"><v>0</v></c><c r="D2" t="s"><v>1</v></c></row>',
      '<row r="3"/>',
      '<row r="5"><c r="D5" t="s"><v>2</v></c><c r="B5" t="e"><v>#N/A</v></c></row>',
    ].join('');
    await book({ rows, texts });
    expect(await extract({ path: 'a.xlsx' })).toEqual({
      columns: ['column1', 'a', 'column3', 'b c'].map((name) => ({ name, type: 'text' })),
      rows: [[null, null, null, 'x\ry']],
    });
  });

  it('is read from the named sheet, or else from the first visible one', async () => {
    await book({ rows: row(text('d')) + row(number('1')) });
    expect((await extract({ path: 'a.xlsx' })).columns).toEqual([{ name: 'd', type: 'integer' }]);
    expect((await extract({ path: 'a.xlsx', sheet: 'Hidden' })).columns).toEqual([{ name: 'h', type: 'text' }]);
    const none = { code: 'RECORDS_XLSX_SHEET', seen: 'No', allowed: 'Hidden, Data' };
    await expect(extract({ path: 'a.xlsx', sheet: 'No' })).rejects.toMatchObject(none);
  });

  it('is read from the sheet at a position, or the only one that matches a pattern', async () => {
    const sheets = ['Cover (1)', 'Sales 2026', 'Sales 2025', 'Other'];
    const data = sheets.map((sheet) => ({
      sheet,
      data: [['x'], [sheet]].map((cells) => cells.map((value) => ({ value }))),
    }));
    await writeXlsxFile(data).toFile(join(folder, 'b.xlsx'));
    const read = async (sheet: string | number) => (await extract({ path: 'b.xlsx', sheet })).rows;
    expect(await read(1)).toEqual([['Cover (1)']]);
    expect(await read(4)).toEqual([['Other']]);
    expect(await read('sales*6')).toEqual([['Sales 2026']]);
    expect(await read('*(?)')).toEqual([['Cover (1)']]);
    const several = { code: 'RECORDS_XLSX_SHEET', seen: 'Sales*: Sales 2026, Sales 2025' };
    await expect(read('Sales*')).rejects.toMatchObject(several);
    for (const sheet of [5, 'X*'])
      await expect(read(sheet)).rejects.toMatchObject({ code: 'RECORDS_XLSX_SHEET', seen: String(sheet) });
    // Hidden sheets don't count.
    await book({ rows: row(text('d')) + row(number('1')) });
    expect((await extract({ path: 'a.xlsx', sheet: 1 })).columns).toEqual([{ name: 'd', type: 'integer' }]);
    await expect(extract({ path: 'a.xlsx', sheet: 'Hid*' })).rejects.toMatchObject({ code: 'RECORDS_XLSX_SHEET' });
  });

  it('must match the declared columns and types; the error names the row of an invalid value', async () => {
    await book({ rows: row(text('id'), text('n')) + row(number('1'), text('x')), formats: [] });
    const declared = { path: 'a.xlsx', columns: [{ name: 'n' }, { name: 'id', type: 'text' }] };
    expect((await extract(declared)).rows).toEqual([['x', '1']]);
    const wrong = { code: 'RECORDS_VALUE', family: 'row', where: { line: 2, column: 'n' } };
    await book({ rows: `<row r="1">${text('id')}${text('n')}</row><row r="2">${number('1')}${text('x')}</row>` });
    await expect(extract({ path: 'a.xlsx', types: { n: 'integer' } })).rejects.toMatchObject(wrong);
    await book({ rows: row(text('id')) + row(number('1'), number('2')) });
    await expect(extract({ path: 'a.xlsx' })).rejects.toMatchObject({ code: 'CSV_RAGGED' });
  });

  it("is rejected if the file isn't a workbook", async () => {
    await put('a.xlsx', await zipOf({ 'a.csv': 'x\n1\n' }));
    await expect(extract({ path: 'a.xlsx' })).rejects.toMatchObject({ code: 'RECORDS_XLSX' });
    await put('b.xlsx', 'x\n1\n');
    await expect(extract({ path: 'b.xlsx' })).rejects.toMatchObject({ code: 'RECORDS_ZIP' });
    await put('old.xlsx', Buffer.from('d0cf11e0a1b11ae1'.padEnd(1024, '0'), 'hex'));
    await expect(extract({ path: 'old.xlsx' })).rejects.toMatchObject({
      code: 'RECORDS_FORMAT',
      message: expect.stringContaining('(xls) or one with a password'),
    });
  });

  it('with another file extension is rejected, and so is an OpenDocument file', async () => {
    await book({ rows: row(text('a')) + row(number('1')) });
    await rename(join(folder, 'a.xlsx'), join(folder, 'a.csv'));
    const workbook = { code: 'RECORDS_FORMAT', next: expect.stringContaining('format: xlsx') };
    await expect(extract({ path: 'a.csv' })).rejects.toMatchObject(workbook);
    expect((await extract({ path: 'a.csv', format: 'xlsx' })).rows).toEqual([['1']]);
    const mimetype = 'application/vnd.oasis.opendocument.spreadsheet';
    await put('a.ods', await zipOf({ mimetype, 'content.xml': '<x/>', 'META-INF/manifest.xml': '<x/>' }));
    await expect(extract({ path: 'a.ods' })).rejects.toMatchObject({
      code: 'RECORDS_FORMAT',
      message: expect.stringContaining('OpenDocument'),
    });
  });

  it('can have thousands of rows without a header', async () => {
    await book({ rows: Array.from({ length: 5000 }, (_, i) => row(number(String(i)), text(`n${i}`))).join('') });
    const { columns, rows } = await extract({ path: 'a.xlsx', header: false });
    expect(columns.map(({ name }) => name)).toEqual(['column1', 'column2']);
    expect(rows.length).toBe(5000);
    expect(rows.at(-1)).toEqual(['4999', 'n4999']);
  });
});
