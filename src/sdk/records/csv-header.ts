import { faultIn, type RecordInput } from './input.ts';

/** The names of the columns: a nameless one is called after its position. Two of one name are a fault. */
export function namesOf(input: RecordInput, texts: readonly (string | null)[], header: boolean): string[] {
  const names = texts.map((text, c) => (header && text ? text : `column${c + 1}`));
  const twice = names.find((name, c) => names.indexOf(name) < c);
  if (twice === undefined) return names;
  throw faultIn(input, {
    code: 'CSV_HEADER',
    message: `two columns are called ${JSON.stringify(twice)}`,
    spot: { line: 1, column: twice },
    next: 'rename one, or read without names: `header: false` and `skip_rows: 1`',
  });
}

/** The problem of a document in which a header was expected and none came. */
export function noHeader(input: RecordInput) {
  return faultIn(input, {
    code: 'CSV_HEADER',
    message: 'there is no row with the names of the columns; the data is empty',
    next: 'check what wrote the data, or set `header: false` when an empty table is right',
  });
}
