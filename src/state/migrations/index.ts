import type { Kysely } from 'kysely';
import { up as firstSchema } from './001-first-schema.ts';

/** One numbered step of the schema. A step that has been released is never changed; a new one is added. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  up(db: Kysely<unknown>): Promise<void>;
}

export const migrations: readonly Migration[] = [{ number: 1, name: 'first-schema', up: firstSchema }];
