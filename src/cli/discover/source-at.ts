import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename, dirname, parse } from 'node:path';
import { secretName } from '../../lib/redact.ts';
import { withoutSlash } from '../../lib/without-slash.ts';
import { duckdbSignature, parquetSignature, sqliteSignature } from '../../sdk/records/foreign.ts';

/** The connector and the options of a source that isn't in a config. */
export interface SourceAddress {
  readonly connector: 'db' | 'file' | 'simple_rest';
  readonly options: Readonly<Record<string, unknown>> & {
    readonly url?: string;
    readonly file?: string;
    readonly parquet?: Readonly<Record<string, string>>;
    readonly folder?: string;
    readonly driver?: string;
    readonly auth?: KeyInQuery;
  };
  /** The part of the source to read: a file name, a glob, or a path of an API. */
  readonly pattern?: string;
}

/** A key that an API's URL contains. */
export interface KeyInQuery {
  readonly kind: 'key';
  readonly in: 'query';
  readonly name: string;
  readonly value: string;
}

/** Whether the text is a path or URL instead of a name. Names in a config contain only letters, digits, `_` and `-`. */
export function isAddress(text: string): boolean {
  return !/^[\w-]+$/.test(text);
}

/** Identifies the source at a path or URL: a database, an API, a SQLite file, a folder, a file or a glob. */
export function sourceAt(text: string): SourceAddress {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return apiAt(new URL(text));
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(text)) return { connector: 'db', options: { url: text } };
  const stats = statSync(text, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return { connector: 'file', options: { folder: text } };
  const database = stats?.isFile() === true ? databaseAt(text) : undefined;
  if (database !== undefined) return { connector: 'db', options: database };
  if (stats?.isFile()) return { connector: 'file', options: { folder: dirname(text) }, pattern: basename(text) };
  if (/\.parquet$/i.test(text)) return { connector: 'db', options: parquetAt(text) };
  return { connector: 'file', options: { folder: '.' }, pattern: text };
}

/** A password in the login of a URL or in a parameter, as written. */
const passwordInUrl = /((?<=^[a-z][\w.+-]*:\/\/[^/?#:@]*:)[^/?#]+(?=@)|(?<=[?&]pass[-_]?word=)[^&#]+)/i;

/**
 * A URL's passwords as written, and the texts around them, of which there's one more. `URL` can't split a database's
 * URL with several hosts.
 */
export function splitAtPasswords(url: string): { texts: readonly string[]; passwords: readonly string[] } {
  const parts = url.split(passwordInUrl);
  return { texts: parts.filter((_, i) => i % 2 === 0), passwords: parts.filter((_, i) => i % 2 === 1) };
}

/** The API at a URL. A key in the URL becomes a login, so that it isn't written to the config or the output. */
function apiAt(url: URL): SourceAddress {
  const { pathname } = url;
  const [secret] = [...url.searchParams].filter(([name]) => secretName.test(name));
  const search = url.search
    .replace(/^\?/, '')
    .split('&')
    .filter((part) => [...new URLSearchParams(part).keys()].some((name) => !secretName.test(name)));
  const pattern = search.length === 0 ? pathname : `${pathname}?${search.join('&')}`;
  const login =
    secret === undefined ? {} : { auth: { kind: 'key', in: 'query', name: secret[0], value: secret[1] } as const };
  url.pathname = '';
  url.search = '';
  url.hash = '';
  return {
    connector: 'simple_rest',
    options: { url: withoutSlash(url.href), ...login },
    ...(pattern === '/' ? {} : { pattern }),
  };
}

/** Signatures of files that the `db` connector reads, and its options for the file. */
const databases: readonly (readonly [string | RegExp, (path: string) => SourceAddress['options']])[] = [
  [sqliteSignature, (file) => ({ driver: 'sqlite', file })],
  [duckdbSignature, (file) => ({ driver: 'duckdb', file })],
  [parquetSignature, parquetAt],
];

/** Parquet files as one table, whose name comes from the path. */
function parquetAt(path: string): SourceAddress['options'] {
  const name = parse(path)
    .name.replaceAll(/\W+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return { driver: 'duckdb', parquet: { [name || 'rows']: path } };
}

function databaseAt(path: string): SourceAddress['options'] | undefined {
  const start = Buffer.alloc(16);
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    // The error is ignored here, because the connector will report why the file can't be read.
    return undefined;
  }
  try {
    readSync(file, start, 0, start.length, 0);
  } finally {
    closeSync(file);
  }
  const text = start.toString('latin1');
  return databases.find(([signature]) => text.search(signature) === 0)?.[1](path);
}
