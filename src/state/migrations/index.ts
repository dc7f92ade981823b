import type { Kysely } from 'kysely';
import { all } from './all.generated.ts';

/**
 * One numbered step of the schema: a file `NNN-name.ts`. Once released, a step never changes; later changes are new
 * steps.
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
