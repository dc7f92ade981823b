import { faultIn, type RecordInput, shorten } from './input.ts';

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

/**
 * A header that is one bare cell with another usual delimiter inside is a table that was read with the wrong one: taken
 * as it is, every row would be a single text. Who means it so puts the name in quotes.
 */
export function refuseOtherDelimiter(input: RecordInput, names: readonly string[]): void {
  const found = names.length === 1 ? /[;\t|,]/.exec(names[0]!)?.[0] : undefined;
  if (found === undefined) return;
  throw faultIn(input, {
    code: 'CSV_DELIMITER',
    message: 'the header is a single cell, and it looks as if another delimiter stood between the names',
    spot: { line: 1 },
    seen: shorten(names[0]!),
    next: `set \`delimiter: ${JSON.stringify(found)}\`, or put the name in quotes if it is one`,
  });
}
