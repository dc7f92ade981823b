import type { Kysely } from 'kysely';
import { all } from './all.generated.ts';

/** One numbered step of the schema: a file `NNN-name.ts`. A step that has been released is never changed; a new one is added. */
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
