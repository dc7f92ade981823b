import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import file from '../../connectors/file/index.ts';
import fc, { runsOf } from '../property.ts';
import { contextOf, extractTable } from './harness.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-locales-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** How a country's programs write a table. */
interface Locale {
  readonly delimiter: string;
  readonly thousands: string;
  readonly point: string;
  readonly day: (year: string, month: string, day: string) => string;
}

const locales: readonly Locale[] = [
  { delimiter: ';', thousands: '.', point: ',', day: (y, m, d) => `${d}.${m}.${y}` },
  { delimiter: ',', thousands: ',', point: '.', day: (y, m, d) => `${m}/${d}/${y}` },
  { delimiter: '\t', thousands: '\u00a0', point: ',', day: (y, m, d) => `${d}/${m}/${y}` },
  { delimiter: '|', thousands: "'", point: '.', day: (y, m, d) => `${y}/${m}/${d}` },
];

const cents = fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n });
const dates = fc.date({ min: new Date('1900-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
const names = fc.string({ unit: fc.constantFrom('a', 'ä', 'Z', ' ', '"', ';', ',', '\n'), maxLength: 8 });
const rows = fc.array(fc.tuple(cents, dates, names), { minLength: 1, maxLength: 12 });

const canonical = (amount: bigint): string => {
  const digits = String(amount < 0n ? -amount : amount).padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

function written(amount: bigint, { thousands, point }: Locale): string {
  const [whole, fraction] = canonical(amount).split('.') as [string, string];
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, thousands)}${point}${fraction}`;
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

it("the suggested query reads a table in any country's format exactly, or keeps ambiguous values as text", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...locales),
      fc.boolean(),
      fc.boolean(),
      rows,
      async (locale, title, total, table) => {
        const dayOf = (at: Date) =>
          locale.day(...(at.toISOString().slice(0, 10).split('-') as [string, string, string]));
        const lines = table.map(([amount, at, name]) =>
          [quoted(written(amount, locale)), dayOf(at), quoted(`n${name}`)].join(locale.delimiter),
        );
        const head = ['amount', 'day', 'name'].join(locale.delimiter);
        const all = [...(title ? ['Report'] : []), head, ...lines, ...(total ? ['end of report'] : [])];
        await writeFile(join(folder, 'a.csv'), `${all.join('\r\n')}\r\n`);
        const context = contextOf(file, { source: {}, query: { path: '' }, folder });
        const [found] = await file.discover!({ ...context, pattern: 'a.csv' });
        expect(found!.problem).toBeUndefined();
        const read = await extractTable(file, { source: {}, query: found!.query, folder });
        const types = read.columns.map(({ type }) => type);
        const expected = table.map(([amount, at, name]) => [
          types[0] === 'text' ? written(amount, locale) : canonical(amount),
          types[1] === 'text' ? dayOf(at) : at.toISOString().slice(0, 10),
          `n${name}`,
        ]);
        expect(read.rows).toEqual(expected);
        expect(types[1] === 'text' ? found!.notes!.join() : '').toMatch(types[1] === 'text' ? /day and month/ : /^$/);
      },
    ),
    { numRuns: runsOf(300) },
  );
});
