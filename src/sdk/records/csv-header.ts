import { faultIn, type RecordInput, shorten } from './input.ts';

/** The first row of a table. */
export interface FirstRow {
  readonly texts: readonly (string | null)[];
  readonly line: number;
}

/** The names of the columns: a nameless one is called after its position. Two of one name are a fault. */
export function namesOf(input: RecordInput, { texts, line }: FirstRow, header: boolean): string[] {
  const names = texts.map((text, c) => (header && text ? text : `column${c + 1}`));
  const met = new Set<string>();
  const twice = names.find((name) => met.has(name) || !met.add(name));
  if (twice === undefined) return names;
  throw faultIn(input, {
    code: 'CSV_HEADER',
    message: `two columns are called ${JSON.stringify(twice)}`,
    spot: { line, column: twice },
    next: `rename one, or read without names: \`header: false\` and \`skip_rows: ${line}\``,
  });
}

/** The problem of a document in which a header was expected and none came. */
export function noHeader(input: RecordInput) {
  return faultIn(input, {
    code: 'CSV_HEADER',
    message: 'no header row: the data is empty',
    next: 'check what wrote the data, or set `header: false` when an empty table is right',
  });
}

/** Control characters are a tab, or what Hive (0x01) and mainframes (0x1f) take. */
const otherDelimiters = /[;|,\p{Cc}]/u;

/**
 * A header that is one bare cell with another usual delimiter inside is a table that was read with the wrong one: taken
 * as it is, every row would be a single text. Who means it so puts the name in quotes.
 */
export function refuseOtherDelimiter(input: RecordInput, names: readonly string[], line: number): void {
  const found = names.length === 1 ? otherDelimiters.exec(names[0]!)?.[0] : undefined;
  if (found === undefined) return;
  throw faultIn(input, {
    code: 'CSV_DELIMITER',
    message: 'the header is a single cell, and it looks as if another delimiter stood between the names',
    spot: { line },
    seen: shorten(names[0]!),
    next: `set \`delimiter: ${JSON.stringify(found)}\`, or put the name in quotes if it is one`,
  });
}
