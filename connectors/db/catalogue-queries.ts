import type { SqlFragment } from './dialect.ts';

/** Queries for the columns of tables and views, in the order that `catalogue.ts` expects. */
export interface Catalogue {
  /** All tables and views that the login may read. `database` is the one that the source names, or empty. */
  all(database: string): string;
  /**
   * The table that a statement finds by this name: its parts, and the name as it's written in a statement. May also
   * return tables whose names differ only in case.
   */
  one(parts: readonly string[], quoted: string, database: string): SqlFragment;
}
