import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parse } from 'csv-parse';
import { SaxesParser } from 'saxes';
import { orderColumns } from './data.ts';

/** One normalized row from an independent parser. Timestamps have six fractional digits and no zone. */
type Row = readonly (string | null)[];

/** Reads a csv file with csv-parse. An empty cell means null, because no string in the table is empty. */
async function* csvRows(file: string, nullText: string): AsyncGenerator<Row> {
  const reader = createReadStream(file).pipe(parse({ from_line: 2 }));
  for await (const record of reader as AsyncIterable<string[]>) {
    yield record.map((cell) => (cell === nullText ? null : cell));
  }
}

/** Reads a JSON array that has one object per line, and keeps numbers exactly as written. */
async function* jsonRows(file: string): AsyncGenerator<Row> {
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line === '[' || line === ']') continue;
    const text = line.endsWith(',') ? line.slice(0, -1) : line;
    const exact = JSON.parse(text, (_key, value, context?: { source?: string }) =>
      typeof value === 'number' ? (context?.source ?? String(value)) : value,
    ) as Record<string, string | null>;
    yield orderColumns.map((name) => exact[name] ?? null);
  }
}

/** Reads `<rows><row>…` with saxes, and converts missing elements to null. */
async function* xmlRows(file: string): AsyncGenerator<Row> {
  const parser = new SaxesParser();
  let ready: Row[] = [];
  let row: Map<string, string> | undefined;
  let text = '';
  parser.on('opentag', ({ name }) => {
    if (name === 'row') row = new Map();
    text = '';
  });
  parser.on('text', (piece) => (text += piece));
  parser.on('closetag', ({ name }) => {
    if (name === 'row') ready.push(orderColumns.map((column) => row?.get(column) ?? null));
    else row?.set(name, text);
  });
  for await (const chunk of createReadStream(file, 'utf8')) {
    parser.write(chunk as string);
    yield* ready;
    ready = [];
  }
  parser.close();
}

function comparable(row: Row): string {
  const instant = (row[4] ?? '').replace(' ', 'T').replace(/(Z|\+00(:00)?)$/, '');
  const [seconds, fraction = ''] = instant.split('.');
  return JSON.stringify([row[0], row[1], row[2], row[3], `${seconds}.${fraction.padEnd(6, '0')}`, row[5]]);
}

/** Compares an output with the reference cell by cell. Throws if any cell differs. */
export async function verifyRows(
  output: { file: string; format: string },
  reference: string,
  lower: boolean,
): Promise<number> {
  const readers = { csv: (file: string) => csvRows(file, ''), json: jsonRows, xml: xmlRows };
  const actual = readers[output.format as keyof typeof readers](output.file);
  let rows = 0;
  for await (const wanted of csvRows(reference, '\\N')) {
    rows++;
    const shaped = lower ? wanted.map((cell, c) => (c === 2 ? (cell?.toLowerCase() ?? null) : cell)) : wanted;
    const next = await actual.next();
    const seen = next.done === true ? 'nothing' : comparable(next.value);
    if (seen !== comparable(shaped))
      throw new Error(`row ${rows} of ${output.file}: ${seen} instead of ${comparable(shaped)}`);
  }
  if ((await actual.next()).done !== true) throw new Error(`${output.file} has more than ${rows} rows`);
  return rows;
}
