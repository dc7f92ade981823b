import { relative, resolve } from 'node:path';
import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  UnknownRow,
} from 'kysely';

/** Columns that contain a payload's path. */
const columns = ['path', 'last_path'] as const;

/**
 * The path as stored: relative to the state folder, because the folder may be moved, or mounted elsewhere by another
 * process.
 */
export function storedPath(folder: string, path: string): string {
  return relative(folder, path);
}

/** The absolute path for a stored path. */
export function absolutePath(folder: string, stored: string): string {
  return resolve(folder, stored);
}

/** Resolves stored paths in all rows read from the store. */
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
