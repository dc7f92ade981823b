import { parse } from 'csv-parse/sync';
import { SaxesParser } from 'saxes';

/** Rows of strings; null means null. */
export type Table = (string | null)[][];

/** An empty field is null, `""` an empty string. */
export function readCsv(text: string): Table {
  return parse(text, { cast: (cell, { quoting }) => (cell === '' && !quoting ? null : cell) }) as Table;
}

export interface JsonCell {
  readonly kind: 'number' | 'text' | 'bare' | 'json' | 'null';
  readonly text: string | null;
}

/** Numbers keep every digit of the document. */
export function exactly(text: string): unknown {
  return JSON.parse(text, (_name, value, context?: { source?: string }) =>
    typeof value === 'number' ? { number: context?.source } : value,
  );
}

export function cellOf(value: unknown): JsonCell {
  if (value === null) return { kind: 'null', text: null };
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (typeof value === 'boolean') return { kind: 'bare', text: String(value) };
  if (typeof value === 'object' && 'number' in value) return { kind: 'number', text: String(value.number) };
  return { kind: 'json', text: JSON.stringify(value) };
}

/** Missing elements are null. */
export function readXml(text: string, names: readonly string[]): Table {
  const parser = new SaxesParser();
  const rows: Table = [];
  let cells = new Map<string, string>();
  let inside = '';
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name }) => {
    inside = '';
    if (name === 'row') cells = new Map();
  });
  parser.on('text', (piece) => {
    inside += piece;
  });
  parser.on('closetag', ({ name }) => {
    if (name === 'row') rows.push(names.map((column) => cells.get(column) ?? null));
    else cells.set(name, inside);
  });
  parser.write(text).close();
  return rows;
}
