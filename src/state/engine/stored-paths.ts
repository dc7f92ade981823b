import { relative, resolve } from 'node:path';
import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  UnknownRow,
} from 'kysely';

/** Columns that name a payload's file. */
const columns = ['path', 'last_path'] as const;

/** How a file is written down: from the state folder on, which may be moved, or mounted elsewhere by another process. */
export function storedPath(folder: string, path: string): string {
  return relative(folder, path);
}

/** Where a file that was written down is now. */
export function absolutePath(folder: string, stored: string): string {
  return resolve(folder, stored);
}

/** Resolves the stored paths of files in all rows that are read from the store. */
export class StoredPathPlugin implements KyselyPlugin {
  readonly #folder: string;

  /** `folder`: of the state, absolute. */
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
