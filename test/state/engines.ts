import { createHash } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { StateDatabase } from '../../src/state/engine/state-database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server for the states of this project's tests. If absent, they're in their folders. */
    readonly stateServer: Omit<StateDatabase, 'schema'> & { readonly password: string };
  }
}

/**
 * The database of the state in a folder, as an option for `openStore`. Each folder has its own schema, because tests
 * close a state and open it again.
 */
export function stateFor(folder: string): { readonly database?: StateDatabase } {
  const server = inject('stateServer');
  return server === undefined ? {} : { database: { ...server, schema: schemaOf(folder) } };
}

/** Whether the states are on a server, where each statement takes many times as long as in a folder. */
export const isOnServer = (): boolean => inject('stateServer') !== undefined;

/** Deletes the state of a folder from the server. */
export async function dropState(folder: string): Promise<void> {
  const server = inject('stateServer');
  if (server === undefined) return;
  const client = new pg.Client({ ...server, ssl: false });
  await client.connect();
  await client.query(`drop schema if exists ${schemaOf(folder)} cascade`);
  await client.end();
}

const schemaOf = (folder: string): string => `s_${createHash('sha1').update(folder).digest('hex')}`;
