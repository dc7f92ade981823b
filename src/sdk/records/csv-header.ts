import { faultIn, type RecordInput, shorten } from './input.ts';

/** The first row of a table. */
export interface FirstRow {
  readonly texts: readonly (string | null)[];
  readonly line: number;
}

/** The column names, with empty names replaced by their position. Throws if two names are the same. */
export function namesOf(input: RecordInput, { texts, line }: FirstRow, header: boolean): string[] {
  const names = texts.map((text, c) => (header && text ? text : `column${c + 1}`));
  const met = new Set<string>();
  const twice = names.find((name) => met.has(name) || !met.add(name));
  if (twice === undefined) return names;
  throw faultIn(input, {
    code: 'CSV_HEADER',
    message: `two columns are named ${JSON.stringify(twice)}`,
    spot: { line, column: twice },
    next: `rename one of the columns, or read the data without column names: \`header: false\` and \`skip_rows: ${line}\``,
  });
}

/** The error for a document without the expected header. */
export function noHeader(input: RecordInput) {
  return faultIn(input, {
    code: 'CSV_HEADER',
    message: 'no header row: the data is empty',
    next: 'check the program that wrote the data, or set `header: false` if an empty table is correct',
  });
}

/** Control characters: the tab, and the delimiters used by Hive (0x01) and mainframes (0x1f). */
const otherDelimiters = /[;|,\p{Cc}]/u;

/** The first common delimiter in a header that was read as a single name. */
export function otherDelimiterIn(name: string): string | undefined {
  return otherDelimiters.exec(name)?.[0];
}

/**
 * Detects a wrong delimiter: the header is a single unquoted cell that contains another common delimiter. Without this
 * check, each row would become a single string. A quoted name isn't checked.
 */
export function refuseOtherDelimiter(input: RecordInput, names: readonly string[], line: number): void {
  const found = names.length === 1 ? otherDelimiterIn(names[0]!) : undefined;
  if (found === undefined) return;
  throw faultIn(input, {
    code: 'CSV_DELIMITER',
    message: 'the header is a single cell, but it seems to contain several names with another delimiter',
    spot: { line },
    seen: shorten(names[0]!),
    next: `set \`delimiter: ${JSON.stringify(found)}\`, or quote the header if it is a single name`,
  });
}
