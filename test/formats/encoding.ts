import { formatById, formats } from '../../src/formats/index.ts';
import { Output } from '../../src/formats/output.ts';
import type { Batch, Value } from '../../src/sdk/batch.ts';
import { batchOf, storedRow, valueText } from '../../src/sdk/batch.ts';
import type { Column, ColumnType } from '../../src/sdk/column.ts';
import { withDefaults } from '../../src/sdk/option.ts';
import fc from '../property.ts';

/**
 * What the tests of all formats need to know about one format. A file in `cases/` with the format's name exports it.
 */
export interface FormatCase {
  /** How many rows a document has. Throws if it isn't valid. Doesn't use our own encoder. */
  rowsOf(document: Buffer): number;
}

export const formatIds: readonly string[] = formats.map(({ id }) => id);

export async function caseOf(id: string): Promise<FormatCase> {
  return (await import(`./cases/${id}.ts`)) as FormatCase;
}

/** Everything that an encoder writes for these batches, in the chunks that it emits. */
export function encodePieces(id: string, batches: readonly Batch[], given: Record<string, unknown> = {}): Buffer[] {
  const format = formatById(id);
  const out = new Output();
  const encoder = format.encoder(batches[0]!.columns, withDefaults(format.options, given) as never);
  const pieces: Buffer[] = [];
  const drain = (all: boolean): void => {
    for (const piece of out.take(all)) {
      pieces.push(Buffer.from(piece));
      out.recycle(piece);
    }
  };
  encoder.begin(out);
  for (const batch of batches) {
    encoder.batch(batch, out);
    drain(false);
  }
  encoder.end(out);
  drain(true);
  return pieces;
}

export function encode(id: string, batches: readonly Batch[], given: Record<string, unknown> = {}): Buffer {
  return Buffer.concat(encodePieces(id, batches, given));
}

/** The same batch as a database sends it: all fields in one buffer, length-prefixed, row by row. */
export function wired(batch: Batch): Batch {
  const { columns, cells } = batch;
  const rows = batch.rows === undefined ? batch.length : Math.max(0, ...batch.rows.map((row) => row + 1));
  const spans = new Int32Array(rows * columns.length * 2);
  const parts: Buffer[] = [];
  let at = 0;
  for (let r = 0; r < rows; r++) {
    columns.forEach(({ type }, c) => {
      const column = cells[c]!;
      if (column.kind === 'bytes') throw new Error('already bytes');
      const text = valueText(column.values[r] ?? null, type);
      const part = Buffer.from(text ?? '', 'utf8');
      parts.push(Buffer.from([255, 255, 255, 255]), part);
      spans.set(text === null ? [-1, -1] : [at + 4, at + 4 + part.length], 2 * (r * columns.length + c));
      at += 4 + part.length;
    });
  }
  const bytes = Buffer.concat(parts);
  return {
    ...batch,
    cells: columns.map((_, slot) => ({ kind: 'bytes', bytes, spans, stride: columns.length, slot })),
  };
}

/** The visible rows from `from` to `to`, as a new batch with a row map. */
export function part(batch: Batch, from: number, to: number): Batch {
  const rows = Int32Array.from({ length: to - from }, (_, i) => storedRow(batch, from + i));
  return { ...batch, length: to - from, rows };
}

const nasty = [
  '',
  ' ',
  '"',
  'a,b',
  'a;b|c\td',
  'two\nlines',
  'dos\r\nlines',
  'mac\rlines',
  '\0',
  '\u0001\u001f\u007f\u0085',
  '😀',
  '\ud800',
  'a\udc00b',
  '\ufffe\uffff\ufffd',
  '\ufeffmark',
  '</row>',
  ']]>',
  '<![CDATA[x]]>',
  '&amp;',
  '007',
  '1e5',
  'null',
  'NULL',
  '__proto__',
  'constructor',
  ' padded ',
  '\\',
  '\\u0041',
  '\u2028\u2029',
  '日本語テキスト',
];
const text = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom('"', ',', '\r', '\n', ' ', 'a', '\\', '<', '&', 'é', '\ud83d', '\ude00'),
    maxLength: 12,
  }),
);
const digits = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
const integer: fc.Arbitrary<Value> = fc.oneof(
  fc.bigInt(),
  fc.maxSafeInteger(),
  fc.constantFrom<Value>(9223372036854775807n, '-9223372036854775808', 2 ** 53, '18446744073709551615'),
);
const decimal: fc.Arbitrary<Value> = fc.oneof(
  fc.tuple(fc.bigInt(), digits(4)).map(([whole, scale]) => `${whole}.${scale}`),
  fc.constantFrom<Value>('12345678901234567890123456789012345678', '0.00', '1.50', 'NaN', 'Infinity', '-Infinity'),
);
const instant = fc.date({ noInvalidDate: true, min: new Date('0001-01-01'), max: new Date('9999-12-31') });
const iso = instant.map((date) => date.toISOString());

/** Values of each type, many of them hostile. */
const values: Record<ColumnType, fc.Arbitrary<Value>> = {
  text,
  uuid: fc.uuid(),
  integer,
  decimal,
  float: fc.oneof(fc.double(), fc.constantFrom<Value>('1e+21', '5e-324', '-0')),
  boolean: fc.oneof(fc.boolean(), fc.constantFrom<Value>('true', 'false')),
  date: iso.map((given) => given.slice(0, 10)),
  time: iso.map((given) => given.slice(11, 23)),
  timestamp: iso.map((given) => given.slice(0, -1)),
  timestamptz: iso,
  json: fc.json({ stringUnit: 'binary' }),
  binary: fc.uint8Array({ maxLength: 20 }),
};

const column: fc.Arbitrary<Column> = fc.record({
  name: fc.oneof(
    fc.constantFrom('id', 'note', 'xml', 'a:b', '1st', ...nasty),
    fc.string({ unit: 'binary', maxLength: 12 }),
  ),
  type: fc.constantFrom<ColumnType>('text', ...(Object.keys(values) as ColumnType[])),
});

/** Column sets whose names are distinct in every format. */
const columns = fc.uniqueArray(column, { minLength: 1, maxLength: 6, selector: ({ name }) => elementLike(name) });
const elementLike = (name: string): string => `_${name.replace(/[^A-Za-z0-9]/g, '_').toLowerCase()}`.replace(/^_+/, '');

/** Batches of up to a dozen rows with any columns and any values. */
export const batches: fc.Arbitrary<Batch> = columns.chain((given) =>
  fc
    .array(fc.tuple(...given.map(({ type }) => fc.option(values[type], { freq: 4 }))), { maxLength: 12 })
    .map((rows) => batchOf(given, rows as Value[][])),
);

/** One row of hostile values of one text column. */
export const nastyTexts: readonly string[] = nasty;
