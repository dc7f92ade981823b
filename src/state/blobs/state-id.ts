import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** The setting that identifies a state on a server, and the name of the file that says to which state a folder belongs. */
export const idName = 'state.id';

/** Finds the ID of the state in a database. Undefined if no process has used the state yet. */
export type FindStateId = (db: Kysely<Tables>) => Promise<string | undefined>;

/** Reads the ID once, because it never changes. */
export function stateIdFinder(): FindStateId {
  let known: string | undefined;
  return async (db) => {
    known ??= (await db.selectFrom('settings').select('value').where('name', '=', idName).executeTakeFirst())?.value;
    return known;
  };
}
