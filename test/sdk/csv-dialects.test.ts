import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import fc, { runsOf } from '../property.ts';
import { declared, inputOf, readTable } from './inputs.ts';

test('multi-character delimiters and custom escapes are supported', async () => {
  const text = 'a||b\n"x \\" y"||\n""||NULL\nC:\\dir|x||"\\\\"\n';
  for (let size = 1; size < 12; size++) {
    const options = { delimiter: '||', escape: '\\', blockBytes: size };
    expect((await readTable(inputOf(text, size), 'csv', options)).rows).toEqual([
      ['x " y', null],
      ['', 'NULL'],
      ['C:\\dir|x', '\\'],
    ]);
  }
  await expect(readTable(inputOf('a||b\n1\n'), 'csv', { delimiter: '||' })).rejects.toMatchObject({
    code: 'CSV_RAGGED',
    where: { line: 2 },
  });
});

test('error messages are the same for every dialect', async () => {
  const dialects = [{ delimiter: '||' }, { delimiter: '||', escape: '\\' }];
  for (const options of dialects) {
    await expect(readTable(inputOf('a||b\n1||"2\n3||4\n'), 'csv', options)).rejects.toMatchObject({
      code: 'CSV_QUOTE',
      message: expect.stringContaining('without a closing quote'),
      where: { line: 2 },
    });
    await expect(readTable(inputOf('a||b\n1||"2"x\n'), 'csv', options)).rejects.toMatchObject({
      code: 'CSV_QUOTE',
      message: expect.stringContaining('text follows a closing quote'),
      where: { line: 2 },
    });
  }
});

test('a delimiter written as \\t or tab is a tab', async () => {
  for (const delimiter of ['\t', '\\t', 'tab', 'TAB']) {
    expect((await readTable(inputOf('a\tb\n1\t2\n'), 'csv', { delimiter })).rows).toEqual([['1', '2']]);
  }
});

test('a header that contains a different delimiter is rejected in every dialect', async () => {
  const refused = async (text: string, options: Record<string, unknown>) =>
    await expect(readTable(inputOf(text), 'csv', options)).rejects.toMatchObject({ code: 'CSV_DELIMITER' });
  await refused('a;b\n1;2\n', { delimiter: '||' });
  await refused('a;b\n1;2\n', { escape: '\\' });
  await refused('a\x01b\n1\x012\n', {});
});

test('a `sep=` line overrides the delimiter in every dialect, quoted or not', async () => {
  for (const options of [{}, { escape: '\\' }, { delimiter: '||' }, { delimiter: '\t', quote: "'" }]) {
    for (const line of ['sep=;', '"sep=;"', 'SEP=;']) {
      const table = await readTable(inputOf(`${line}\r\na;b\r\n1;2\r\n`), 'csv', options);
      expect(table.rows, line).toEqual([['1', '2']]);
      expect(declared(table)).toBe('a:text b:text');
    }
  }
});

test('a `sep=` line counts towards skip_rows, and still applies', async () => {
  for (const blockBytes of [1, 3, 100]) {
    const rowsOf = async (text: string, skip_rows: number) =>
      (await readTable(inputOf(text), 'csv', { skip_rows, blockBytes })).rows;
    expect(await rowsOf('sep=;\nReport\na;b\n1;2\n', 2)).toEqual([['1', '2']]);
    expect(await rowsOf('sep=;\na;b\n1;2\n', 1)).toEqual([['1', '2']]);
    expect(await rowsOf('Report\nsep=;\na;b\n1;2\n', 1)).toEqual([['1', '2']]);
  }
  // Skipping one row too few makes the title, which has one cell, the header of rows with two cells.
  await expect(readTable(inputOf('sep=;\nReport\na;b\n1;2\n'), 'csv', { skip_rows: 1 })).rejects.toMatchObject({
    code: 'CSV_RAGGED',
    where: { line: 3 },
    next: expect.stringContaining('`sep=` line'),
  });
});

test('blank lines in a one-column table are rows in every dialect', async () => {
  for (const options of [{}, { escape: '\\' }, { delimiter: '||' }]) {
    const one = await readTable(inputOf('a\n1\n\n2\n'), 'csv', options);
    expect(one.rows).toEqual([['1'], [null], ['2']]);
    const { delimiter = ',' } = options as { delimiter?: string };
    const two = await readTable(inputOf(`a${delimiter}b\n\n1${delimiter}2\n\n`), 'csv', options);
    expect(two.rows).toEqual([['1', '2']]);
  }
});

test('a table may have up to 16,384 columns, and more are rejected', async () => {
  const row = (width: number, prefix: string) => Array.from({ length: width }, (_, i) => `${prefix}${i}`).join();
  const table = await readTable(inputOf(`${row(16_384, 'c')}\n${row(16_384, 'v')}\n`), 'csv');
  expect(table.columns.at(-1)).toEqual({ name: 'c16383', type: 'text' });
  expect(table.rows[0]?.at(-1)).toBe('v16383');
  for (const header of [true, false]) {
    const text = `\n${row(16_385, 'c')}\n${row(16_384, 'v')}\n`;
    await expect(readTable(inputOf(text), 'csv', { header })).rejects.toMatchObject({
      code: 'RECORDS_TOO_MANY_COLUMNS',
      message: 'input, line 2: the first row has 16385 columns',
      allowed: '16384',
    });
  }
});

test("an error in a header reports the header's line number, which includes skipped lines", async () => {
  const options = { skip_rows: 2 };
  await expect(readTable(inputOf('T\n\na,a\n1,2\n'), 'csv', options)).rejects.toMatchObject({
    code: 'CSV_HEADER',
    where: { line: 3 },
    next: expect.stringContaining('`skip_rows: 3`'),
  });
  await expect(readTable(inputOf('T\n\na;b\n1;2\n'), 'csv', options)).rejects.toMatchObject({
    code: 'CSV_DELIMITER',
    where: { line: 3 },
  });
});

const cell = fc.oneof(
  fc.constantFrom(
    '',
    '""',
    'a',
    ' ',
    '"a\\"b"',
    '"\\\\"',
    '"a\nb"',
    '"\\\r\n"',
    '"a||b"',
    '|',
    'ü',
    '"漢|😀"',
    '\\',
    'x\\y',
  ),
  fc.stringMatching(/^[a-z|\\ ]*$/, { maxLength: 5 }),
  fc.stringMatching(/^"([a-z|\\ ]|\\")*"$/, { maxLength: 9 }),
);

test('the scanner agrees with csv-parse on multi-character delimiters and escapes', async () => {
  const documents = fc.record({
    rows: fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 6 }),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    size: fc.integer({ min: 1, max: 40 }),
    delimiter: fc.constantFrom('||', '|', '::', 'ü'),
    escape: fc.constantFrom(undefined, '\\'),
  });
  let read = 0;
  await fc.assert(
    fc.asyncProperty(documents, async ({ rows, end, size, delimiter, escape: escaper }) => {
      const text = rows.map((row) => row.join(delimiter)).join(end);
      const expected = await outcome(async () =>
        parse(text, {
          delimiter,
          ...(escaper === undefined ? {} : { escape: escaper }),
          record_delimiter: ['\r\n', '\n', '\r'],
          skip_empty_lines: true,
          cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
        }),
      );
      if (expected !== 'refused') read++;
      const options = { delimiter, ...(escaper === undefined ? {} : { escape: escaper }) };
      const given = { ...options, header: false, blockBytes: size };
      const seen = await outcome(async () => (await readTable(inputOf(text, size), 'csv', given)).rows);
      expect(seen).toEqual(expected);
    }),
    { numRuns: runsOf(3000) },
  );
  // Enough documents must be valid for a meaningful comparison: about 780 are, with a standard deviation of 24.
  expect(read).toBeGreaterThan(500);
});

async function outcome(run: () => Promise<unknown>): Promise<unknown> {
  return await run().catch(() => 'refused');
}

test('skip_footer skips the last nonblank lines, no matter where a block ends', async () => {
  const text = 'a,b\r\n1,2\r\n3,4\r\n\r\nTotal\r\n(2 rows)\r\n\r\n';
  for (let size = 1; size <= text.length; size++) {
    const { rows } = await readTable(inputOf(text, size), 'csv', { skip_footer: 2 });
    expect(rows).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  }
  const one = await readTable(inputOf('a\n1\n2\nsum 3'), 'csv', { skip_footer: 1 });
  expect(one.rows).toEqual([['1'], ['2']]);
  await expect(readTable(inputOf('Total\n'), 'csv', { skip_footer: 1 })).rejects.toMatchObject({ code: 'CSV_HEADER' });
});
