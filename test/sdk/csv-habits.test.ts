import { expect, test } from 'vitest';
import fc, { runsOf } from '../property.ts';
import { inputOf, readTable } from './inputs.ts';

type Options = Record<string, unknown>;

/** The rows, which must be the same however the text is split into blocks. */
async function rowsOf(text: string, options: Options = {}) {
  const { rows } = await readTable(inputOf(text), 'csv', options);
  for (const size of [1, 2, 3, 7])
    expect((await readTable(inputOf(text, size), 'csv', { ...options, blockBytes: size })).rows).toEqual(rows);
  return rows;
}

test('missing cells at the end of a row are null with null_padding', async () => {
  const text = 'a,b,c\n1\n1,2\n1,2,3\n"x"\n,\n';
  await expect(rowsOf(text)).rejects.toMatchObject({
    code: 'CSV_RAGGED',
    where: { line: 2 },
    next: expect.stringContaining('`null_padding: true`'),
  });
  expect(await rowsOf(text, { null_padding: true })).toEqual([
    ['1', null, null],
    ['1', '2', null],
    ['1', '2', '3'],
    ['x', null, null],
    [null, null, null],
  ]);
  // The data may have been truncated in this row.
  const cut = rowsOf('a,b\n1,2\n3', { null_padding: true });
  await expect(cut).rejects.toMatchObject({ code: 'CSV_RAGGED', where: { line: 3 } });
  expect(await rowsOf('a,b\r1\r', { null_padding: true })).toEqual([['1', null]]);
  const long = rowsOf('a,b\n1\n1,2,3\n', { null_padding: true });
  await expect(long).rejects.toMatchObject({ code: 'CSV_RAGGED', where: { line: 3 }, seen: '3' });
});

test('spaces before a cell are ignored with skip_initial_space', async () => {
  const text = 'a, "b", c\n1,  "x, y",  z \n   , "",""\n';
  await expect(rowsOf('a,b\n1, "x, y"\n')).rejects.toMatchObject({
    code: 'CSV_QUOTE',
    next: expect.stringContaining('`skip_initial_space: true`'),
  });
  const { columns, rows } = await readTable(inputOf(text), 'csv', { skip_initial_space: true });
  expect(columns.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(rows).toEqual([
    ['1', 'x, y', 'z '],
    [null, '', ''],
  ]);
  expect(await rowsOf(text, { skip_initial_space: true })).toEqual(rows);
});

const postgres = { dialect: 'postgres_text', header: false };
const mysql = { dialect: 'mysql_text', header: false };

test("escapes of PostgreSQL's text format are replaced", async () => {
  const text = 'a\\tb\\\\n\tC:\\\\new\n\\N\t\n\\x41\\102\\q\t"\\\nx\n\\\\N\t\\b\\f\\v\\r\n\\.\n';
  expect(await rowsOf(text, postgres)).toEqual([
    ['a\tb\\n', 'C:\\new'],
    [null, ''],
    ['ABq', '"\nx'],
    ['\\N', '\b\f\v\r'],
  ]);
  expect(await rowsOf('\\.|1\n\\N|\\\\.\n', { ...postgres, delimiter: '|' })).toEqual([
    ['.', '1'],
    [null, '\\.'],
  ]);
  // A backslash at the end of the data has no meaning.
  expect(await rowsOf('a\\', postgres)).toEqual([['a\\']]);
});

test("escapes of MySQL's text format are replaced, and only a line feed ends a row", async () => {
  expect(await rowsOf('a\\\tb\tx\r\\\ny\n\\N\t\\Zz\n\r\tNULL\n', mysql)).toEqual([
    ['a\tb', 'x\r\ny'],
    [null, '\x1az'],
    ['\r', 'NULL'],
  ]);
  expect(await rowsOf('a\tb\n1\tNULL\n', { ...mysql, header: true, null_text: 'NULL' })).toEqual([['1', null]]);
});

test('escapes for bytes that are not text are refused', async () => {
  for (const [text, options] of [
    ['a\\0b\n', mysql],
    ['a\\0b\n', postgres],
    ['\\xff\n', postgres],
  ] as const)
    await expect(rowsOf(text, options)).rejects.toMatchObject({ code: 'CSV_ESCAPE' });
});

/** As COPY does ("File Formats", "Text Format"). */
const escaped = (text: string) =>
  text.replaceAll(
    /[\\\t\n\r\b\f\v]/g,
    (found) => `\\${{ '\t': 't', '\n': 'n', '\r': 'r', '\b': 'b', '\f': 'f', '\v': 'v' }[found] ?? found}`,
  );

test('any text survives a dump', async () => {
  const cell = fc.option(fc.string({ unit: fc.constantFrom('a', 'N', '\\', '\t', '\n', '\r', '.', 'é', '"', ',') }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell), { minLength: 1 }),
      fc.integer({ min: 1, max: 9 }),
      async (rows, size) => {
        const text = rows
          .map((row) => `${row.map((one) => (one === null ? '\\N' : escaped(one))).join('\t')}\n`)
          .join('');
        for (const options of [postgres, mysql]) {
          const read = await readTable(inputOf(text, size), 'csv', { ...options, blockBytes: size });
          if (options === postgres || !/[\b\f\v]/.test(text)) expect(read.rows).toEqual(rows);
        }
      },
    ),
    { numRuns: runsOf(100) },
  );
});

test('NaN and infinities in json are null with allow_nan, but not in strings', async () => {
  const text =
    '[{"a":NaN,"b":-Infinity,"c":"NaN \\"NaN\\\\"},{"a":-1.5,"b":Infinity,"c":"-Infinity"},{"a":2,"b":null,"c":"I"}]';
  await expect(readTable(inputOf(text), 'json')).rejects.toMatchObject({
    code: 'JSON_SYNTAX',
    next: expect.stringContaining('`allow_nan: true`'),
  });
  for (const size of [1, 2, 3, 5, 8, 13, 1000]) {
    const { rows, columns } = await readTable(inputOf(text, size), 'json', { allow_nan: true });
    expect(rows).toEqual([
      [null, null, 'NaN "NaN\\'],
      ['-1.5', null, '-Infinity'],
      ['2', null, 'I'],
    ]);
    expect(columns.map(({ type }) => type)).toEqual(['decimal', 'text', 'text']);
  }
  const lines = await readTable(inputOf('{"a":NaN}\n{"a":1}\n'), 'jsonl', { allow_nan: true });
  expect(lines.rows).toEqual([[null], ['1']]);
  await expect(readTable(inputOf('[{"a":NaNa}]'), 'json', { allow_nan: true })).rejects.toMatchObject({
    code: 'JSON_SYNTAX',
  });
});
