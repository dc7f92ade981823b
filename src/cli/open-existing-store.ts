import type { StateLocation } from '../config/config.ts';
import { hasDatabase } from '../state/engine/has-database.ts';
import type { StateDatabase } from '../state/engine/state-database.ts';
import type { Store } from '../state/store.ts';

/**
 * Opens the state at a location; undefined if no state exists yet. Read-only commands don't create it. Throws like
 * {@link hasDatabase}.
 */
export async function openExistingStore({ state, stateDatabase }: StateLocation): Promise<Store | undefined> {
  if (stateDatabase !== undefined) return openOnServer(state, stateDatabase);
  if (!hasDatabase(state)) return undefined;
  const { openStore } = await import('../state/store.ts');
  return openStore(state, {});
}

async function openOnServer(folder: string, database: StateDatabase): Promise<Store | undefined> {
  const [{ useServer }, { openStore }] = await Promise.all([
    import('../state/engine/database.ts'),
    import('../state/store.ts'),
  ]);
  // The store shares these connections.
  const engine = await useServer(database, folder);
  try {
    return (await engine.hasMigrations(engine.db)) ? await openStore(folder, { database }) : undefined;
  } finally {
    await engine.close();
  }
}
