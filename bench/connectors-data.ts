import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The same rows in each format that has a reader. */
export const forms = ['csv', 'json', 'jsonl', 'xml'] as const;
export type Form = (typeof forms)[number];

const notes = [
  null,
  'Parcel left at depot number 7',
  'Before ten, second door, floor 3',
  'Caller said "today", see case #81, class "A"',
  'First line of it\nSecond line\nThird line',
  'Abgabe beim Nachbarn möglich; 午後に配達 – déjà payé ✓',
  'Refund <open> & "checked", amount > 100 €',
];
const countries = ['DE', 'US', 'ES', 'SE', 'FR', 'JP', 'PL'];

interface Row {
  readonly id: number;
  readonly customer: string;
  readonly country: string;
  readonly amount: number;
  readonly created_at: string;
  readonly note: string | null;
}

function rowAt(id: number): Row {
  const cents = (id * 7919) % 9_999_999;
  return {
    id,
    customer: `Zoë García ${id % 9973}`,
    country: countries[id % countries.length]!,
    amount: cents / 100,
    created_at: new Date(1_704_067_200_000 + ((id * 61_001) % 63_072_000) * 1000).toISOString(),
    note: notes[id % notes.length]!,
  };
}

const csvCell = (value: unknown): string => {
  const text = value === null ? '' : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const xmlText = (text: string): string => text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
const xmlCell = ([name, value]: [string, unknown]): string =>
  value === null ? '' : `<${name}>${xmlText(String(value))}</${name}>`;

const writers: Readonly<Record<Form, { begin: string; row: (row: Row) => string; between: string; end: string }>> = {
  csv: {
    begin: 'id,customer,country,amount,created_at,note\n',
    row: (row) => Object.values(row).map(csvCell).join(','),
    between: '\n',
    end: '\n',
  },
  json: { begin: '[', row: (row) => JSON.stringify(row), between: ',\n', end: ']' },
  jsonl: { begin: '', row: (row) => JSON.stringify(row), between: '\n', end: '\n' },
  xml: {
    begin: '<orders>',
    row: (row) => `<order>${Object.entries(row).map(xmlCell).join('')}</order>`,
    between: '\n',
    end: '</orders>',
  },
};

/** Writes one `orders.<format>` file per format to a folder. */
export async function writeForms(folder: string, rows: number): Promise<void> {
  for (const form of forms) {
    await pipeline(Readable.from(pieces(form, rows)), createWriteStream(join(folder, `orders.${form}`)));
  }
}

function* pieces(form: Form, rows: number): Generator<string> {
  const { begin, row, between, end } = writers[form];
  yield begin;
  for (let first = 1; first <= rows; first += 1000) {
    const some = Array.from({ length: Math.min(1000, rows - first + 1) }, (_, i) => row(rowAt(first + i)));
    yield (first === 1 ? '' : between) + some.join(between);
  }
  yield end;
}
