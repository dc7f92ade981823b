import { open } from 'node:fs/promises';
import { faultIn, type RecordInput } from './input.ts';

/** Number of leading bytes that are needed to identify a file. */
export const foreignHeadBytes = 512;

/** The leading bytes of a local file that are needed to identify it. */
export async function localHead(local: string): Promise<Buffer> {
  const file = await open(local, 'r');
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(foreignHeadBytes), 0, foreignHeadBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

interface Kind {
  /** What the data is, as error messages say it, such as `a tar archive`. */
  readonly what: string;
  /**
   * The first bytes of such data, decoded as latin1. Markup is also detected after a byte-order mark and in UTF-16 and
   * UTF-32.
   */
  readonly signature: string | RegExp;
  readonly isMarkup?: true;
  readonly next: string;
  /** The formats that can't start with these bytes; absent if no supported format can. */
  readonly not?: readonly string[];
}

/** SQLite files begin with this string (sqlite.org/fileformat.html, 1.3.1). */
export const sqliteSignature = 'SQLite format 3\0';

/** DuckDB files have this at byte 8, after a checksum (duckdb.org/docs/stable/internals/storage). */
export const duckdbSignature = /^[\s\S]{8}DUCK/;

/** Parquet files begin with `PAR1`; a text that does is not followed by the start of a page header. */
export const parquetSignature = 'PAR1\x15';

/** Tar headers have this magic at byte 257 (POSIX.1-2017, pax; GNU tar has spaces after it). */
export const tarSignature = /^[\s\S]{257}ustar(?: {2})?\0/;

const notMarkup = ['csv', 'json', 'jsonl'];
const unpackFirst = 'decompress the data first, or compress it with gzip or zip';
const readAsFile = 'read the file with the `file` or `ftp` connector';
const saveAsText = 'save the data as CSV or JSON Lines';
/** Elements that can be the first one of an HTML page. */
const pageStart = /^\s*<(?:!--|!doctype\s+html|(?:html|head|body|meta|title|script|style|center|table)[\s>])/i;
const byteOrderMark = /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/;

/**
 * Signatures of unsupported formats, and of supported formats in files with the wrong extension. No text starts with
 * one of these by chance.
 */
const kinds: readonly Kind[] = [
  { what: 'data compressed with bzip2', signature: /^BZh[1-9]1AY&SY/, next: unpackFirst },
  { what: 'data compressed with xz', signature: '\xfd7zXZ\0', next: unpackFirst },
  { what: 'a 7z archive', signature: '7z\xbc\xaf\x27\x1c', next: unpackFirst },
  { what: 'a RAR archive', signature: 'Rar!\x1a\x07', next: unpackFirst },
  { what: 'a tar archive', signature: tarSignature, next: readAsFile },
  {
    what: 'a Parquet file',
    signature: parquetSignature,
    next: 'read the file with the `db` connector and its `parquet` option',
  },
  { what: 'a DuckDB database', signature: duckdbSignature, next: 'read the database with the `db` connector' },
  { what: 'an Arrow file', signature: 'ARROW1\0', next: saveAsText },
  { what: 'a SQLite database', signature: sqliteSignature, next: 'read the database with the `db` connector' },
  { what: 'a PDF document', signature: '%PDF-', next: 'ask for the data in another format' },
  {
    what: 'an old Office file (xls) or one with a password',
    signature: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
    next: 'save the file as xlsx, without a password',
  },
  {
    what: 'a zip archive or a workbook',
    signature: 'PK\x03\x04',
    next: readAsFile,
    not: [...notMarkup, 'xml'],
  },
  {
    what: 'an HTML page, probably a login page or an error page',
    signature: pageStart,
    isMarkup: true,
    next: 'look at the page, then check the URL and the login',
    not: notMarkup,
  },
  {
    what: 'an XML document',
    signature: /^\s*<\?xml\s/,
    isMarkup: true,
    next: 'set `format: xml`, unless it is an error message instead of the data',
    not: notMarkup,
  },
];

/** Refuses data whose first bytes show that it has a different format. */
export function refuseForeign(input: RecordInput, head: Buffer, format: string): void {
  const text = head.toString('latin1', 0, foreignHeadBytes);
  const markup = text.replaceAll('\0', '').replace(byteOrderMark, '');
  const isSigned = ({ signature, isMarkup }: Kind) =>
    typeof signature === 'string' ? text.startsWith(signature) : signature.test(isMarkup ? markup : text);
  const kind = kinds.find((one) => (one.not === undefined || one.not.includes(format)) && isSigned(one));
  if (kind === undefined) return;
  throw faultIn(input, {
    code: 'RECORDS_FORMAT',
    message: `the data is not ${format}, but ${kind.what}`,
    next: kind.next,
  });
}
