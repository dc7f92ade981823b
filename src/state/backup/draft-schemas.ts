import { sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';

/** PostgreSQL's limit. */
const maxNameLength = 63;
/** Age after which a draft is removed. A restore that was killed has left it behind. */
const staleMs = 24 * 60 * 60 * 1000;

/** The name of the schema that a state is moved to when another one takes its place. */
export const formerSchema = (schema: string, now: number): string => named(schema, '_before_', now);

/** The name of the schema in which a state is being restored. */
export const draftSchema = (schema: string, now: number): string => named(schema, '_restoring_', now);

function named(schema: string, word: string, now: number): string {
  const suffix = `${word}${digitsOf(now)}`;
  return `${schema.slice(0, maxNameLength - suffix.length)}${suffix}`;
}

const digitsOf = (now: number): string => new Date(now).toISOString().replaceAll(/\D/g, '');

/** Removes the drafts of a state that were left behind. */
export async function dropOldDrafts(
  { db, clock }: Pick<Engine, 'db' | 'clock'>,
  schema: string,
  drop: (draft: string) => Promise<void>,
): Promise<void> {
  const newest = draftSchema(schema, clock.now() - staleMs);
  const oldest = draftSchema(schema, 0);
  const drafts = sql<{ name: string }>`select nspname as name from pg_namespace
    where nspname collate "C" >= ${oldest} and nspname collate "C" < ${newest}`;
  for (const { name } of (await drafts.execute(db)).rows) if (name.length === newest.length) await drop(name);
}
