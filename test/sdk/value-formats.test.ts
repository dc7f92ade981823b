import { describe, expect, it } from 'vitest';
import writeXlsxFile from 'write-excel-file/node';
import { type RecordFormat, recordFaults, recordOptions, withDefaults } from '../../src/sdk/index.ts';
import fc, { runsOf } from '../property.ts';
import { inputOf, readTable } from './inputs.ts';

type Declared = Readonly<Record<string, unknown>>;

/** The value of the only cell, read with a declared type. */
async function read(text: string, declared: Declared): Promise<string | null> {
  const { rows } = await readTable(inputOf(`c\n"${text}"\n`), 'csv', { types: { c: declared } });
  return rows[0]![0]!;
}

const number = (format: string, type = 'decimal') => ({ type, format });

describe('a number format', () => {
  it.each([
    ['1.234,56', '1.234,5', '1234.5'],
    ['1.234,56', '-1.234.567', '-1234567'],
    ['1.234,56', '1234,50', '1234.50'],
    ['1.234,56', '1.234', '1234'],
    ['1,234.56', '1,234', '1234'],
    ['1234,56', ',5', '0.5'],
    ['1 234,56', '1 234,5', '1234.5'],
    ['1 234,56', '1\u202f234,5', '1234.5'],
    ["1'234.50", '-1’234.50', '-1234.50'],
    ['12,34,567.89', '12,34,567.80', '1234567.80'],
    ['12,5 %', '12,50%', '0.1250'],
    ['12,5 %', '-7 %', '-0.07'],
    ['(1,234.56)', '(1,234.50)', '-1234.50'],
    ['(1,234.56)', '7.25', '7.25'],
    ['1.234,56-', '1.234,5-', '-1234.5'],
    ['$1,234.56', '-$1,234.5', '-1234.5'],
    ['1.234,56 €', '−5,00 €', '-5.00'],
  ])('%s reads %s as %s', async (format, text, expected) => {
    expect(await read(text, number(format))).toBe(expected);
  });

  it.each([
    ['1.234,56', '1.5'],
    ['1.234,56', '1,234.56'],
    ['1.234,56', '12.34'],
    ['1.234,56', '1.2345'],
    ['1234,56', '1.234'],
    ['1234,56', '12,5 %'],
    ['12,5 %', '12,5'],
    ['(1,234.56)', '(-5)'],
    ['(1,234.56)', '(5'],
    ['1.234,56 €', '5,00'],
    ['1.234,56', '-'],
  ])('%s refuses %s', async (format, text) => {
    await expect(read(text, number(format))).rejects.toMatchObject({
      code: 'RECORDS_VALUE',
      seen: text,
      allowed: format,
      where: { line: 2, column: 'c' },
    });
  });

  it('also works for integers and floats', async () => {
    expect(await read('1.234.567,00', number('1.234,56', 'integer'))).toBe('1234567');
    expect(await read('12,50 %', number('12,5 %', 'float'))).toBe('0.125');
    await expect(read('1,5', number('1.234,56', 'integer'))).rejects.toMatchObject({ code: 'RECORDS_VALUE' });
  });

  it('reads any decimal exactly, no matter how many digits it has', async () => {
    const digits = fc.stringMatching(/^[1-9]\d{0,40}$/);
    const styles = fc.constantFrom(
      ['1.234,56', '.', ','],
      ['1,234.56', ',', '.'],
      ['1 234,56', '\u00a0', ','],
      ["1'234.56", "'", '.'],
    );
    await fc.assert(
      fc.asyncProperty(styles, fc.boolean(), digits, digits, async ([format, thousands, point], isNegative, a, b) => {
        const sign = isNegative ? '-' : '';
        const grouped = a.replaceAll(/\B(?=(\d{3})+$)/g, thousands!);
        expect(await read(`${sign}${grouped}${point}${b}`, number(format!))).toBe(`${sign}${a}.${b}`);
      }),
      { numRuns: runsOf(200) },
    );
  });
});

describe('a date format', () => {
  it.each([
    ['date', 'dd.MM.yyyy', '31.01.2025', '2025-01-31'],
    ['date', 'd.M.yyyy', '1.2.2025', '2025-02-01'],
    ['date', 'DD/MM/YYYY', '01/02/2025', '2025-02-01'],
    ['date', 'yyyyMMdd', '20240229', '2024-02-29'],
    ['date', 'dd-MMM-yyyy', '01-FEB-2025', '2025-02-01'],
    ['date', 'MMMM d, yyyy', 'May 5, 2025', '2025-05-05'],
    ['date', "dd.MM.yyyy '00:00'", '31.01.2025 00:00', '2025-01-31'],
    ['timestamp', 'MM/dd/yyyy HH:mm', '01/31/2025 17:05', '2025-01-31T17:05:00'],
    ['timestamp', 'M/d/yyyy h:mm a', '1/31/2025 12:05 am', '2025-01-31T00:05:00'],
    ['timestamp', 'dd.MM.yyyy HH:mm:ss.SSS', '31.01.2025 17:05:06.120', '2025-01-31T17:05:06.120'],
    ['timestamptz', 'yyyy-MM-ddTHH:mm:ssXXX', '2025-01-31T17:05:06+0130', '2025-01-31T17:05:06+01:30'],
    ['timestamptz', 'epoch', '1700000000.25', '2023-11-14T22:13:20.25Z'],
    ['timestamptz', 'epoch', '-1.25', '1969-12-31T23:59:58.75Z'],
    ['timestamptz', 'epoch_ms', '1700000000123', '2023-11-14T22:13:20.123Z'],
    ['timestamptz', 'epoch_ms', '1700000000000', '2023-11-14T22:13:20Z'],
    ['timestamptz', 'epoch_us', '1700000000123456', '2023-11-14T22:13:20.123456Z'],
    ['timestamptz', 'epoch_ns', '1700000000123456789', '2023-11-14T22:13:20.123456789Z'],
    ['time', 'h:mm a', '5:07 PM', '17:07:00'],
  ])('%s %s reads %s as %s', async (type, format, text, expected) => {
    expect(await read(text, { type, format })).toBe(expected);
  });

  it.each([
    ['date', 'dd.MM.yyyy', '31.02.2025'],
    ['date', 'dd.MM.yyyy', '1.2.2025'],
    ['date', 'MM/dd/yyyy', '31/01/2025'],
    ['date', 'dd.MM.yyyy', '2025-01-31'],
    ['timestamp', 'dd.MM.yyyy HH:mm', '31.01.2025'],
    ['timestamp', 'M/d/yyyy h:mm a', '1/31/2025 13:05 PM'],
    ['timestamptz', 'epoch', '1e9'],
    ['timestamptz', 'epoch', '999999999999999'],
  ])('%s %s rejects %s', async (type, format, text) => {
    await expect(read(text, { type, format })).rejects.toMatchObject({ code: 'RECORDS_VALUE', allowed: format });
  });

  it('assigns two-digit years to the century set by first_year', async () => {
    const declared = { type: 'date', format: 'dd.MM.yy', first_year: 1950 };
    expect(await read('31.12.49', declared)).toBe('2049-12-31');
    expect(await read('01.01.50', declared)).toBe('1950-01-01');
    expect(await read('01.01.24', { ...declared, first_year: 1925 })).toBe('2024-01-01');
  });

  it('reads any day and time exactly', async () => {
    const instants = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(instants, async (at) => {
        const iso = at.toISOString();
        const [year, month, day] = iso.slice(0, 10).split('-') as [string, string, string];
        const clock = iso.slice(11, -1);
        const format = 'dd/MM/yyyy HH:mm:ss.SSS';
        expect(await read(`${day}/${month}/${year} ${clock}`, { type: 'timestamp', format })).toBe(iso.slice(0, -1));
        const epoch = await read(String(at.getTime()), { type: 'timestamptz', format: 'epoch_ms' });
        expect(epoch).toBe(iso.replace('.000Z', 'Z'));
      }),
      { numRuns: runsOf(200) },
    );
  });
});

describe('formats for a whole file', () => {
  const formats = { number: '1.234,56', date: 'dd.MM.yyyy' };

  it('apply to all columns of that type that have no format of their own', async () => {
    const text = 'n;q;d;p\n1.234,5;1.000;31.01.2025;12,5 %\n';
    const types = { n: 'decimal', q: 'integer', d: 'date', p: { type: 'decimal', format: '12,5 %' } };
    const { rows } = await readTable(inputOf(text), 'csv', { delimiter: ';', types, formats });
    expect(rows).toEqual([['1234.5', '1000', '2025-01-31', '0.125']]);
  });

  it('apply to declared columns, but a column can have a different format', async () => {
    const columns = [
      { name: 'd', type: 'date' },
      { name: 'e', type: 'date', format: 'yyyyMMdd' },
    ];
    const { rows } = await readTable(inputOf('d,e\n31.01.2025,20250131\n'), 'csv', { columns, formats });
    expect(rows).toEqual([['2025-01-31', '2025-01-31']]);
  });

  it('apply to strings in JSON, but not to numbers', async () => {
    const text = '[{"a":"1.234,5","b":1.5},{"a":1.5,"b":"1.234"},{"a":"1.234\\u002c5","b":" 7"}]';
    const types = { a: 'decimal', b: 'decimal' };
    const { rows } = await readTable(inputOf(text), 'json', { types, formats });
    expect(rows).toEqual([
      ['1234.5', '1.5'],
      ['1.5', '1234'],
      ['1234.5', '7'],
    ]);
  });

  it('leave undeclared columns as they are', async () => {
    expect((await readTable(inputOf('a\n1.234\n'), 'csv', { formats })).rows).toEqual([['1.234']]);
    expect((await readTable(inputOf('[{"a":1.5}]'), 'json', { formats })).rows).toEqual([['1.5']]);
  });

  it('can read epochs from numbers in JSON', async () => {
    const types = { t: { type: 'timestamptz', format: 'epoch' } };
    const { rows } = await readTable(inputOf('[{"t":1700000000},{"t":"1700000001"}]'), 'json', { types });
    expect(rows).toEqual([['2023-11-14T22:13:20Z'], ['2023-11-14T22:13:21Z']]);
  });

  it('apply to strings in XML', async () => {
    const { rows } = await readTable(inputOf('<r><x><n>1.234,5</n></x></r>'), 'xml', {
      types: { n: 'decimal' },
      formats,
    });
    expect(rows).toEqual([['1234.5']]);
  });
});

it("formats apply to a sheet's text cells, but not to its numbers and dates", async () => {
  const head = ['n', 'd', 'e'].map((value) => ({ value }));
  const texts = [{ value: '1.234,5' }, { value: '31.01.2025' }, { value: 20250131 }];
  const values = [
    { value: 1.5 },
    { value: new Date(Date.UTC(2025, 1, 1)), format: 'dd.mm.yyyy' },
    { value: '20250201' },
  ];
  const book = await writeXlsxFile([head, texts, values] as never, {}).toBuffer();
  const { mkdtemp, rm, writeFile } = await import('node:fs/promises');
  const folder = await mkdtemp(`${(await import('node:os')).tmpdir()}/sluice-sheet-`);
  try {
    const local = `${folder}/book.xlsx`;
    await writeFile(local, book);
    const types = {
      n: number('1.234,56'),
      d: { type: 'date', format: 'dd.MM.yyyy' },
      e: { type: 'date', format: 'yyyyMMdd' },
    };
    const { rows } = await readTable({ ...inputOf(book), local }, 'xlsx' as RecordFormat, { types });
    expect(rows).toEqual([
      ['1234.5', '2025-01-31', '2025-01-31'],
      ['1.5', '2025-02-01', '2025-02-01'],
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe('the check of declared formats before data is read', () => {
  const messageOf = (declared: Declared, formats: Declared = {}) =>
    recordFaults(withDefaults(recordOptions, { types: { c: declared }, formats }))[0]?.message;

  it.each([
    [{ type: 'decimal', format: '1.234' }, 'is ambiguous'],
    [{ type: 'decimal', format: '1.23.4,5' }, 'thousands separator in the wrong place'],
    [{ type: 'decimal', format: '12 %' }, 'does not show the separators'],
    [{ type: 'decimal', format: 'dd.MM.yyyy' }, 'is not a number format'],
    [{ type: 'text', format: 'dd.MM.yyyy' }, 'declares a format for type text'],
    [{ type: 'date', format: 'dd.mm.yyyy' }, 'use MM for months'],
    [{ type: 'date', format: '%d.%m.%Y' }, 'not part of a date format'],
    [{ type: 'date', format: 'dd.MM.yy' }, 'set `first_year`'],
    [{ type: 'date', format: 'dd.MM.yyyy HH:mm' }, 'use type timestamp'],
    [{ type: 'date', format: 'epoch' }, 'use type timestamptz'],
    [{ type: 'date', format: 'dMyyyy' }, 'use two letters'],
    [{ type: 'date', format: 'MM.yyyy' }, 'needs a year, a month and a day'],
    [{ type: 'timestamp', format: 'dd.MM.yyyy hh:mm' }, 'needs both h and a'],
    [{ type: 'timestamptz', format: 'dd.MM.yyyy HH:mm' }, 'needs an offset'],
    [{ type: 'date', first_year: 1950 }, 'has no format'],
  ])('rejects %j: %s', (declared, message) => {
    expect(messageOf(declared)).toContain(message);
  });

  it('accepts a first year for the whole file, and reports an invalid shared format only once', () => {
    expect(messageOf({ type: 'date', format: 'dd.MM.yy' }, { first_year: 1950 })).toBeUndefined();
    const query = withDefaults(recordOptions, { formats: { number: '1.234' } });
    expect(recordFaults(query)).toEqual([{ option: 'formats', message: expect.stringContaining('is ambiguous') }]);
  });
});

it('a value in an undeclared format is rejected, and the error suggests a declaration', async () => {
  await expect(readTable(inputOf('day\n31.01.2025\n'), 'csv', { types: { day: 'date' } })).rejects.toMatchObject({
    code: 'RECORDS_VALUE',
    seen: '31.01.2025',
    next: expect.stringContaining('types: {day: {type: date, format: dd.MM.yyyy}}'),
  });
});
