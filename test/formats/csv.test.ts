import { parse } from 'csv-parse/sync';
import Papa from 'papaparse';
import { describe, expect, test } from 'vitest';
import type { Batch } from '../../src/sdk/batch.ts';
import { batchOf, batchText } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';
import fc, { runsOf } from '../property.ts';
import { batches, encode, wired } from './encoding.ts';

const wellFormed = (text: string | null): string | null => text?.toWellFormed() ?? null;
const expected = (batch: Batch): (string | null)[][] => batchText(batch).map((row) => row.map(wellFormed));
const names = ({ columns }: Batch): string[] => columns.map(({ name }) => name.toWellFormed());

/** Parses csv with csv-parse; an unquoted empty field becomes null. */
function readBack(bytes: Buffer, delimiter: string, recordDelimiter: string): (string | null)[][] {
  return parse(bytes, {
    delimiter,
    record_delimiter: recordDelimiter,
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  });
}

const texts: readonly Column[] = [
  { name: 'a', type: 'text' },
  { name: 'b', type: 'text' },
];
const csvOf = (rows: (string | null)[][], options: Record<string, unknown> = {}): string =>
  encode('csv', [batchOf(texts, rows)], options).toString();

test('a string that a spreadsheet would evaluate gets a leading apostrophe only if configured, and a number never does', () => {
  const formulas = [
    "=cmd|' /C calc'!A0",
    '+1+2',
    '-2+3',
    '@SUM(A1)',
    '\t=1',
    '\n=1',
    `-${'1'.repeat(70)}+A1`,
    `=${'x'.repeat(300_000)}`,
  ];
  const others = ['-5', '+49.30', '-1,234.5', '-1e5', '-3%', 'a=b', "'=1", '', null, '1-2'];
  for (const header of [true, false]) {
    for (const text of formulas) {
      const [kept] = readBack(Buffer.from(csvOf([[text, 'b']], { header: false })), ',', '\n');
      expect(kept![0]).toBe(text);
      for (const batch of [
        batchOf(texts, [
          [text, 'b'],
          [text, 'b'],
        ]),
        wired(
          batchOf(texts, [
            [text, 'b'],
            [text, 'b'],
          ]),
        ),
      ]) {
        const rows = readBack(encode('csv', [batch], { header, formulas: 'escape' }), ',', '\n').slice(header ? 1 : 0);
        expect(rows.map(([a]) => a)).toEqual([`'${text}`, `'${text}`]);
      }
    }
  }
  for (const text of others) expect(csvOf([[text, 'b']], { formulas: 'escape' })).toBe(csvOf([[text, 'b']]));
  const columns = [
    { name: '=1+1', type: 'text' },
    { name: 'n', type: 'integer' },
  ] as const;
  expect(encode('csv', [batchOf(columns, [['-a', -5]])], { formulas: 'escape' }).toString()).toBe("'=1+1,n\n'-a,-5\n");
});

describe('a CSV document', () => {
  test('round-trips through csv-parse, which keeps null distinct from an empty string', () => {
    fc.assert(
      fc.property(
        batches,
        fc.constantFrom(',', ';', '\t', '|'),
        fc.constantFrom(['lf', '\n'], ['crlf', '\r\n']),
        (batch, delimiter, [lineEnd, recordDelimiter]) => {
          const bytes = encode('csv', [batch], { delimiter, line_end: lineEnd });
          expect(readBack(bytes, delimiter, recordDelimiter!)).toEqual([
            names(batch).map((name) => name),
            ...expected(batch),
          ]);
        },
      ),
      { numRuns: runsOf(300) },
    );
  });

  test('round-trips through Papa Parse, except that null becomes an empty string', () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const { data } = Papa.parse<string[]>(encode('csv', [batch]).toString(), { delimiter: ',', newline: '\n' });
        const rows = expected(batch).map((row) => row.map((cell) => cell ?? ''));
        expect(data).toEqual([names(batch), ...rows, ['']]);
      }),
      { numRuns: runsOf(200) },
    );
  });

  test('quotes a value only if required', () => {
    const rows = [
      ['plain', 'two words'],
      ['a,b', 'a"b'],
      ['a\nb', 'a\rb'],
      [' a', 'a '],
      ['', null],
      ['a;b', '007'],
    ];
    expect(csvOf(rows)).toBe('a,b\nplain,two words\n"a,b","a""b"\n"a\nb","a\rb"\n" a","a "\n"",\na;b,007\n');
  });

  test('quotes a string that equals null_text', () => {
    expect(
      csvOf(
        [
          ['NULL', null],
          ['', 'NULLS'],
        ],
        { null_text: 'NULL' },
      ),
    ).toBe('a,b\n"NULL",NULL\n"",NULLS\n');
  });

  test('also quotes numbers if null_text could be a number', () => {
    const columns: readonly Column[] = [{ name: 'n', type: 'integer' }];
    const batch = batchOf(columns, [[0n], [null], [10n]]);
    for (const one of [batch, wired(batch)]) {
      expect(encode('csv', [one], { null_text: '0' }).toString()).toBe('n\n"0"\n0\n10\n');
    }
  });

  test('can end lines with CRLF, omit the header, and start with a byte order mark', () => {
    expect(csvOf([['1', '2']], { line_end: 'crlf' })).toBe('a,b\r\n1,2\r\n');
    expect(csvOf([['1', '2']], { header: false })).toBe('1,2\n');
    expect(encode('csv', [batchOf(texts, [])], { bom: true }).toString('hex')).toBe(
      `efbbbf${Buffer.from('a,b\n').toString('hex')}`,
    );
  });

  test('quotes values in the first line that contain other delimiters, since readers detect the delimiter there', () => {
    expect(
      csvOf(
        [
          ['a;b;c', '1'],
          ['a;b', '2'],
        ],
        { header: false },
      ),
    ).toBe('"a;b;c",1\na;b,2\n');
    const columns: readonly Column[] = [
      { name: 'x;y;z', type: 'text' },
      { name: 'b', type: 'text' },
    ];
    expect(encode('csv', [batchOf(columns, [])]).toString()).toBe('"x;y;z",b\n');
  });

  test('rejects duplicate column names only if it has a header', () => {
    const twice: readonly Column[] = [
      { name: 'a', type: 'text' },
      { name: 'a', type: 'text' },
    ];
    const batch = batchOf(twice, [['1', '2']]);
    expect(() => encode('csv', [batch])).toThrow(
      expect.objectContaining({ code: 'FORMAT_COLUMN_NAME', family: 'config' }),
    );
    expect(encode('csv', [batch], { header: false }).toString()).toBe('1,2\n');
  });

  test("quotes a first value that starts with U+FEFF, so that it isn't read as a byte order mark", () => {
    expect(csvOf([['\ufeffa', 'b']], { header: false })).toBe('"\ufeffa",b\n');
    expect(encode('csv', [batchOf([{ name: '\ufeffa', type: 'text' }], [])]).toString()).toBe('"\ufeffa"\n');
  });

  test('writes a megabyte of CJK characters as UTF-8', () => {
    const long = '配達'.repeat(200_000);
    expect(csvOf([[long, 'x']]) === `a,b\n${long},x\n`).toBe(true);
  });
});

test('a cell of many characters is quoted if it starts or ends with white space', () => {
  const long = 'x'.repeat(400_000);
  const lineOf = (text: string) => csvOf([[text, 'b']], { header: false }) === `"${text}",b\n`;
  expect([` ${long}`, `${long} `, long].map(lineOf)).toEqual([true, true, false]);
});
