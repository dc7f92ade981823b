import { relative, resolve } from 'node:path';
import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  UnknownRow,
} from 'kysely';

/** Columns that contain the path of a payload. */
const columns = ['path', 'last_path'] as const;

/**
 * Converts a path for the database, which stores paths relative to the state folder. The folder may be moved later, and
 * another process may see it at another path.
 */
export function storedPath(folder: string, path: string): string {
  return relative(folder, path);
}

/** Converts a path from the database to an absolute path. */
export function absolutePath(folder: string, stored: string): string {
  return resolve(folder, stored);
}

/** Converts stored paths to absolute paths in all rows that are read from the store. */
export class StoredPathPlugin implements KyselyPlugin {
  readonly #folder: string;

  /** @param folder absolute path of the state folder */
  constructor(folder: string) {
    this.#folder = folder;
  }

  transformQuery({ node }: PluginTransformQueryArgs) {
    return node;
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    const [first] = result.rows;
    if (first === undefined || !columns.some((name) => name in first)) return result;
    for (const row of result.rows) this.#place(row);
    return result;
  }

  #place(row: UnknownRow): void {
    for (const name of columns) {
      const stored = row[name];
      if (typeof stored === 'string') row[name] = absolutePath(this.#folder, stored);
    }
  }
}
