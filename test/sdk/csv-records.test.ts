import { gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import fc, { runsOf } from '../property.ts';
import { declared, inputOf, readTable } from './inputs.ts';

test('missing and empty cells stay distinct: an unquoted empty cell is null, and a quoted one is the empty string', async () => {
  const { rows } = await readTable(inputOf('a,b,c\n1,,""\n'), 'csv');
  expect(rows).toEqual([['1', null, '']]);
});

test('an unquoted null_text is null, and an unquoted empty cell is then the empty string', async () => {
  const { rows } = await readTable(inputOf('a,b,c\n\\N,,"\\N"\n'), 'csv', { null_text: '\\N' });
  expect(rows).toEqual([[null, '', '\\N']]);
});

test('quoted cells keep delimiters, line breaks of every kind and doubled quotes', async () => {
  const { rows } = await readTable(inputOf('a,b\r\n"x,""y""","1\r\n2\n3\r4"\r\n'), 'csv');
  expect(rows).toEqual([['x,"y"', '1\r\n2\n3\r4']]);
});

test('line endings may be mixed, and the last row needs none', async () => {
  const { rows } = await readTable(inputOf('a,b\n1,2\r\n3,4\r5,6'), 'csv');
  expect(rows).toEqual([
    ['1', '2'],
    ['3', '4'],
    ['5', '6'],
  ]);
});

test('without a header, the columns are numbered and the first row is data, including doubled quotes', async () => {
  const table = await readTable(inputOf('"a""b",2\n3,4\n'), 'csv', { header: false });
  expect(declared(table)).toBe('column1:text column2:text');
  expect(table.rows).toEqual([
    ['a"b', '2'],
    ['3', '4'],
  ]);
});

test('a header with doubled quotes is read the same, no matter where a block ends', async () => {
  const text = 'id,"the ""total""","the ""rest"""\n1,2,3\n';
  for (let blockBytes = 1; blockBytes <= text.length; blockBytes++) {
    const { columns } = await readTable(inputOf(text, 1), 'csv', { blockBytes });
    expect(columns.map(({ name }) => name)).toEqual(['id', 'the "total"', 'the "rest"']);
  }
});

test('a column without a name is named by its position, and duplicate names are rejected', async () => {
  expect((await readTable(inputOf('a,,c\n1,2,3\n'), 'csv')).columns.map(({ name }) => name)).toEqual([
    'a',
    'column2',
    'c',
  ]);
  await expect(readTable(inputOf('a,b,a\n'), 'csv')).rejects.toMatchObject({
    code: 'CSV_HEADER',
    where: { column: 'a' },
  });
});

test('a header with a different, unquoted delimiter is rejected, and the error names that delimiter', async () => {
  await expect(readTable(inputOf('a;b\n1;2\n'), 'csv')).rejects.toMatchObject({
    code: 'CSV_DELIMITER',
    next: expect.stringContaining('delimiter: ";"'),
  });
  await expect(readTable(inputOf('junk\na\tb\n1\t2\n'), 'csv', { skip_rows: 1 })).rejects.toMatchObject({
    code: 'CSV_DELIMITER',
  });
  await expect(readTable(inputOf('a,b\n'), 'csv', { delimiter: ';' })).rejects.toMatchObject({ code: 'CSV_DELIMITER' });
  expect((await readTable(inputOf('\n"a;b"\n1;2\n'), 'csv')).rows).toEqual([['1;2']]);
});

test('line numbers in errors include the lines that skip_rows and comment skip', async () => {
  const text = 'made by hand\n"also, junk\n# a remark, here\na;b\n1;2\n#3;4\n\n5;6\n7\n';
  const options = { skip_rows: 2, comment: '#', delimiter: ';' };
  await expect(readTable(inputOf(text), 'csv', options)).rejects.toMatchObject({
    code: 'CSV_RAGGED',
    where: { line: 9 },
  });
  const { rows } = await readTable(inputOf(text.replace('7\n', '')), 'csv', options);
  expect(rows).toEqual([
    ['1', '2'],
    ['5', '6'],
  ]);
});

test('a row with the wrong number of cells is rejected with its line number, even after quoted line breaks', async () => {
  const text = 'a,b\n"1\n\r\n2",x\n3,4,5\n';
  for (const size of [1, 3, 1000]) {
    await expect(readTable(inputOf(text, size), 'csv', { blockBytes: size })).rejects.toMatchObject({
      code: 'CSV_RAGGED',
      seen: '3',
      allowed: '2',
      where: { line: 5 },
    });
  }
});

test('an unclosed quote is reported with the line where its row starts', async () => {
  await expect(readTable(inputOf('a,b\n1,2\n3,"x\ny\nz'), 'csv')).rejects.toMatchObject({
    code: 'CSV_QUOTE',
    where: { line: 3 },
  });
});

test('text after a closing quote is rejected, and so is a quote in an unquoted cell', async () => {
  await expect(readTable(inputOf('a,b\n"x"y,2\n'), 'csv')).rejects.toMatchObject({
    code: 'CSV_QUOTE',
    where: { line: 2 },
  });
  await expect(readTable(inputOf('a,b\n1,5" pipe\n'), 'csv')).rejects.toMatchObject({ code: 'CSV_QUOTE' });
  const { rows } = await readTable(inputOf('a,b\n1,5" pipe\n'), 'csv', { quote: '' });
  expect(rows).toEqual([['1', '5" pipe']]);
});

test('empty input is rejected if a header is expected, and a header alone is an empty table', async () => {
  await expect(readTable(inputOf(''), 'csv')).rejects.toMatchObject({ code: 'CSV_HEADER' });
  await expect(readTable(inputOf('\n\n'), 'csv')).rejects.toMatchObject({ code: 'CSV_HEADER' });
  expect(await readTable(inputOf('a,b'), 'csv')).toMatchObject({ columns: [{ name: 'a' }, { name: 'b' }], rows: [] });
  expect(await readTable(inputOf(''), 'csv', { header: false })).toEqual({ columns: [], rows: [] });
});

test('in a table with one column, an empty line is a row whose cell is null', async () => {
  for (const blockBytes of [1, 2, 3, 100]) {
    expect((await readTable(inputOf('a\n1\n\n2\n'), 'csv', { blockBytes })).rows).toEqual([['1'], [null], ['2']]);
    expect((await readTable(inputOf('a\r\n"1"\r\n2\r\n'), 'csv', { blockBytes })).rows).toEqual([['1'], ['2']]);
  }
});

test('typed values are converted to canonical form, and an invalid value is reported with its line and column', async () => {
  const types = { n: 'integer', d: 'decimal', f: 'float', b: 'boolean', t: 'timestamptz', day: 'date' };
  const head = 'n,d,f,b,t,day\n';
  const { rows, columns } = await readTable(
    inputOf(`${head}007, +1.50 ,1e3,YES,2026-01-02 03:04:05+0100,2024-02-29\n9223372036854775808,.5,,,,\n`),
    'csv',
    { types },
  );
  expect(columns.map(({ type }) => type)).toEqual(['integer', 'decimal', 'float', 'boolean', 'timestamptz', 'date']);
  expect(rows).toEqual([
    ['7', '1.50', '1000', 'true', '2026-01-02T03:04:05+01:00', '2024-02-29'],
    ['9223372036854775808', '0.5', null, null, null, null],
  ]);
  await expect(readTable(inputOf(`${head}1,2,3,t,,\n1,x,3,t,,\n`), 'csv', { types })).rejects.toMatchObject({
    code: 'RECORDS_VALUE',
    family: 'row',
    seen: 'x',
    where: { line: 3, column: 'd' },
  });
  await expect(readTable(inputOf(head), 'csv', { types: { misspelt: 'date' } })).rejects.toMatchObject({
    code: 'RECORDS_TYPES',
    family: 'config',
  });
});

test('`columns` selects and orders columns, and other columns are rejected unless they may be ignored', async () => {
  const columns = [{ name: 'c', type: 'integer' }, { name: 'a' }];
  await expect(readTable(inputOf('a,b,c\n1,2,03\n'), 'csv', { columns })).rejects.toMatchObject({
    code: 'RECORDS_UNKNOWN_COLUMN',
    seen: 'b',
  });
  const table = await readTable(inputOf('a,b,c\n1,2,03\n'), 'csv', { columns, ignore_unknown: true });
  expect(declared(table)).toBe('c:integer a:text');
  expect(table.rows).toEqual([['3', '1']]);
  await expect(readTable(inputOf('a\n1\n'), 'csv', { columns })).rejects.toMatchObject({
    code: 'RECORDS_MISSING_COLUMN',
  });
});

test("several inputs with the same columns in any order become one table, with the input's name in a column", async () => {
  const inputs = [inputOf('a,b\n1,2\n', 100, 'one.csv'), inputOf('b,a\n4,3\n', 100, 'two.csv')];
  const table = await readTable(inputs, 'csv', { inputColumn: 'file' });
  expect(declared(table)).toBe('file:text a:text b:text');
  expect(table.rows).toEqual([
    ['one.csv', '1', '2'],
    ['two.csv', '3', '4'],
  ]);
  const other = inputOf('a,c\n', 100, 'three.csv');
  await expect(readTable([...inputs, other], 'csv')).rejects.toMatchObject({
    code: 'CSV_COLUMNS_DIFFER',
    message: expect.stringContaining('three.csv'),
  });
  await expect(readTable(inputs, 'csv', { inputColumn: 'a' })).rejects.toMatchObject({ code: 'RECORDS_INPUT_COLUMN' });
});

test.each(['utf-16le', 'utf-16be', 'utf-8'])('a byte order mark for %s overrides the encoding option', async (name) => {
  const text = 'naïve,b\n漢字 😀,2\n';
  const bytes = iconv.encode(text, name, { addBOM: true });
  for (const size of [1, 2, 5, 1000]) {
    const table = await readTable(inputOf(bytes, size), 'csv', { encoding: 'windows-1252' });
    expect(table).toMatchObject({ columns: [{ name: 'naïve' }, { name: 'b' }], rows: [['漢字 😀', '2']] });
  }
});

test.each([
  ['utf-8', 'sep=;\r\nid;name\r\n1;"ü;x"\r\n', ','],
  ['utf-16le', 'SEP=\t\nid\tname\n1\tü;x\n', ';'],
  ['utf-8', 'sep=;\rid;name\r1;"ü;x"\r', '|'],
])("Excel's sep= line sets the delimiter and isn't read as a row: %s", async (name, text, delimiter) => {
  const bytes = iconv.encode(text, name, { addBOM: true });
  for (const size of [1, 3, 1000]) {
    const table = await readTable(inputOf(bytes, size), 'csv', { delimiter, blockBytes: size });
    expect(table).toMatchObject({ columns: [{ name: 'id' }, { name: 'name' }], rows: [['1', 'ü;x']] });
  }
  const ragged = readTable(inputOf(`${text}1\n`), 'csv');
  await expect(ragged).rejects.toMatchObject({ code: 'CSV_RAGGED', where: { line: 4 } });
  const bare = await readTable(inputOf(text), 'csv', { header: false });
  expect(bare.rows).toEqual([
    ['id', 'name'],
    ['1', 'ü;x'],
  ]);
});

test('a name or a cell that only resembles a sep= line is read normally', async () => {
  expect((await readTable(inputOf('sep=;a,b\n1,2\n'), 'csv')).rows).toEqual([['1', '2']]);
  expect((await readTable(inputOf('a,b\nsep=;,2\n'), 'csv')).rows).toEqual([['sep=;', '2']]);
  expect((await readTable(inputOf('"sep=;",b\n2,3\n'), 'csv')).rows).toEqual([['2', '3']]);
});

test.each([
  ['windows-1252', 'a,b\n€ “Ü”,2\n'],
  ['utf-16le', 'a,b\n漢 😀,2\n'],
  ['shift_jis', 'a,b\n漢字 表,2\n'],
  ['gb18030', 'a,b\n漢字 😀,2\n'],
  ['cp437', 'a,b\nÜber ╬,2\n'],
])("%s is decoded if it's the configured encoding, no matter how the bytes are split", async (name, text) => {
  const expected = text.split('\n')[1]!.split(',');
  for (const size of [1, 3, 1000]) {
    const { rows } = await readTable(inputOf(iconv.encode(text, name), size), 'csv', { encoding: name });
    expect(rows).toEqual([expected]);
  }
});

test("bytes that aren't valid UTF-8 are rejected with their position, no matter how they're split", async () => {
  const bytes = Buffer.from('a,b\n1,M\xfcller\n', 'latin1');
  for (const size of [1, 4, 1000]) {
    await expect(readTable(inputOf(bytes, size), 'csv')).rejects.toMatchObject({
      code: 'RECORDS_ENCODING',
      message: 'input: byte 8 is not valid UTF-8',
      next: expect.stringContaining('windows-1252'),
    });
  }
  await expect(readTable(inputOf(Buffer.from('a\n\xe6\xbc', 'latin1')), 'csv')).rejects.toMatchObject({
    code: 'RECORDS_ENCODING',
  });
  await expect(readTable(inputOf('a'), 'csv', { encoding: 'klingon' })).rejects.toMatchObject({
    code: 'RECORDS_ENCODING_NAME',
  });
});

test("gzip data is recognized by its first bytes, may have several members, and is rejected if it's truncated", async () => {
  const members = Buffer.concat([gzipSync('a,b\n1,2\n'), gzipSync('3,4\n')]);
  for (const size of [1, 1000]) {
    expect((await readTable(inputOf(members, size), 'csv')).rows).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  }
  const cut = gzipSync('a,b\n1,2\n').subarray(0, -6);
  await expect(readTable(inputOf(cut), 'csv')).rejects.toMatchObject({ code: 'RECORDS_GZIP' });
});

test('a table with 3,000 columns is read, and so is a cell of 1.5 million characters', async () => {
  const names = Array.from({ length: 3000 }, (_, i) => `c${i}`);
  const long = 'x'.repeat(1_500_000);
  const { rows } = await readTable(inputOf(`${names.join()}\n${names.join()}\n`, 1000), 'csv');
  expect(rows).toEqual([names]);
  expect((await readTable(inputOf(`a,b\n"${long}\n",2\n`, 60_000), 'csv')).rows).toEqual([[`${long}\n`, '2']]);
});

const soundCell = fc.oneof(
  fc.constantFrom('', '""', 'a', ' ', '"a""b"', '""""', '"a\nb"', '"a\r\nb"', '"\r"', '"a,b"', 'ü', '漢😀', '#', '##x'),
  fc.stringMatching(/^[^\r\n",\uFEFF]*$/, { maxLength: 6 }),
);
const wildCell = fc.oneof(
  soundCell,
  fc.constantFrom('"', 'x"y', '"a"b', '"""'),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');

test("the scanner agrees with csv-parse on any document, no matter how it's split into chunks", async () => {
  const documents = fc.record({
    rows: fc.oneof(
      {
        weight: 4,
        arbitrary: fc.array(fc.array(soundCell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 8 }),
      },
      {
        weight: 1,
        arbitrary: fc.array(fc.array(wildCell, { minLength: 2, maxLength: 3 }), { minLength: 1, maxLength: 8 }),
      },
    ),
    end: lineEnd,
    size: fc.integer({ min: 1, max: 40 }),
    comment: fc.constantFrom(undefined, '#', '##'),
  });
  let read = 0;
  await fc.assert(
    fc.asyncProperty(documents, async ({ rows, end, size, comment }) => {
      const text = Buffer.from(rows.map((row) => row.join(',')).join(end), 'utf8').toString('utf8');
      const options = { header: false, ...(comment === undefined ? {} : { comment }) };
      const expected = await outcome(async () => parsed(text, comment));
      if (expected !== 'refused') read++;
      expect(await outcome(() => scanned(text, size, options))).toEqual(expected);
    }),
    { numRuns: runsOf(3000) },
  );
  // Most documents must be valid for a meaningful comparison.
  expect(read).toBeGreaterThan(1500);
});

async function scanned(text: string, size: number, options: Record<string, unknown>) {
  return (await readTable(inputOf(text, size), 'csv', { ...options, blockBytes: size })).rows;
}

function parsed(text: string, comment: string | undefined) {
  // csv-parse treats it as text.
  if (text.includes('\0')) throw new Error('NUL');
  const rows = parse(text, {
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    ...(comment === undefined ? {} : { comment, comment_no_infix: true }),
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  });
  return rows as unknown[];
}

async function outcome(run: () => Promise<unknown>): Promise<unknown> {
  return await run().catch(() => 'refused');
}
