import type { Kysely } from 'kysely';
import { all } from './all.generated.ts';

/**
 * One numbered step of the schema, in a file named `NNN-name.ts`. A step never changes after it's released; later
 * changes to the schema are new steps.
 */
export interface Migration {
  readonly number: number;
  readonly name: string;
  up(db: Kysely<unknown>): Promise<void>;
}

export const migrations: readonly Migration[] = Object.entries(all).map(([file, up]) => ({
  number: Number.parseInt(file, 10),
  name: file.replace(/^\d+-/, ''),
  up,
}));
