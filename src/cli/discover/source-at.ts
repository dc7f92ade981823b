import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { sqliteSignature } from '../../sdk/records/foreign.ts';

/** The connector and the options of a source that isn't in a config. */
export interface SourceAddress {
  readonly connector: 'db' | 'file';
  readonly options: Readonly<Record<string, string>>;
  /** The part of the source to read: a file name or a glob. */
  readonly pattern?: string;
}

/** Whether the text is a path or URL instead of a name. Names in a config contain only letters, digits, `_` and `-`. */
export function isAddress(text: string): boolean {
  return !/^[\w-]+$/.test(text);
}

/** Identifies the source at a path or URL: a database, a SQLite file, a folder, a file or a glob. */
export function sourceAt(text: string): SourceAddress {
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(text)) return { connector: 'db', options: { url: text } };
  const stats = statSync(text, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return { connector: 'file', options: { folder: text } };
  if (stats?.isFile() && isSqlite(text)) return { connector: 'db', options: { driver: 'sqlite', file: text } };
  if (stats?.isFile()) return { connector: 'file', options: { folder: dirname(text) }, pattern: basename(text) };
  return { connector: 'file', options: { folder: '.' }, pattern: text };
}

function isSqlite(path: string): boolean {
  const start = Buffer.alloc(sqliteSignature.length);
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    // The error is ignored here, because the connector will report why the file can't be read.
    return false;
  }
  try {
    readSync(file, start, 0, start.length, 0);
    return start.toString('latin1') === sqliteSignature;
  } finally {
    closeSync(file);
  }
}
