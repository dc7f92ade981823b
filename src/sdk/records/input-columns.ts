import { Problem } from '../../lib/problem.ts';
import type { Cells } from '../batch.ts';
import type { Column, KeptColumn } from '../column.ts';
import type { RecordInput } from './input.ts';
import type { RecordOptions } from './options.ts';
import { constantCells } from './retype.ts';

/** Facts about an input that can become columns, in column order. */
const facts = {
  inputColumn: { type: 'text', of: ({ name }: RecordInput) => name },
  modifiedColumn: { type: 'timestamptz', of: ({ modified }: RecordInput) => modified?.toISOString() ?? null },
} as const;

const names = ['inputColumn', 'modifiedColumn'] as const;

/** The table's columns, preceded by the requested columns about the input. */
export function withInputColumns(settings: RecordOptions, columns: readonly Column[]): readonly Column[] {
  const front = inputColumns(settings);
  if (front.length === 0) return columns;
  const twice = front.find(({ name }) => columns.some((column) => column.name === name));
  if (twice === undefined) return [...front, ...columns];
  throw new Problem({
    code: 'RECORDS_INPUT_COLUMN',
    family: 'config',
    message: 'the data already has a column with this name',
    seen: twice.name,
    next: 'choose another name for the added column',
  });
}

/** The kept columns that come from records. */
export function keptRecordColumns(settings: RecordOptions): readonly KeptColumn[] {
  const front = new Set(inputColumns(settings).map(({ name }) => name));
  return (settings.keptColumns ?? []).filter(({ name }) => !front.has(name));
}

function inputColumns(settings: RecordOptions): Column[] {
  const front = names.flatMap((name): Column[] => {
    const wanted = settings[name];
    return wanted === undefined ? [] : [{ name: wanted, type: facts[name].type }];
  });
  front.push(...(settings.factColumns ?? []).map((name): Column => ({ name, type: 'text' })));
  if (settings.key_column !== undefined) front.push({ name: settings.key_column, type: 'text' });
  return front;
}

/** The cells of the columns about the input, for up to `rows` rows of one input. */
export function inputCells(settings: RecordOptions, input: RecordInput, rows: number): Cells[] {
  const known = names.filter((name) => settings[name] !== undefined).map((name) => facts[name].of(input));
  const more = (settings.factColumns ?? []).map((name) => input.facts?.[name] ?? null);
  return [...known, ...more].map((text) => constantCells(text, rows));
}
