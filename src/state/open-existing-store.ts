import { hasDatabase } from './engine/has-database.ts';
import type { StateDatabase, StateLocation } from './engine/state-database.ts';
import type { Store, StoreOptions } from './store.ts';

/**
 * Opens the state at a location; undefined if no state exists yet. Read-only commands don't create it. Throws like
 * {@link hasDatabase}.
 */
export async function openExistingStore(
  { state, stateDatabase }: StateLocation,
  options: Pick<StoreOptions, 'clock'> = {},
): Promise<Store | undefined> {
  if (stateDatabase !== undefined) return openOnServer(state, { ...options, database: stateDatabase });
  if (!hasDatabase(state)) return undefined;
  const { openStore } = await import('./store.ts');
  return openStore(state, options);
}

async function openOnServer(
  folder: string,
  options: StoreOptions & { readonly database: StateDatabase },
): Promise<Store | undefined> {
  const [{ useServer }, { openStore }] = await Promise.all([import('./engine/database.ts'), import('./store.ts')]);
  // The store shares these connections.
  const engine = await useServer(options.database, folder);
  try {
    return (await engine.hasMigrations(engine.db)) ? await openStore(folder, options) : undefined;
  } finally {
    await engine.close();
  }
}
