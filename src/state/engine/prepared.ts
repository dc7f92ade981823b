import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Creates a placeholder for a value that is bound when the query runs. */
export type BoundValue<V> = <N extends keyof V & string>(name: N) => V[N];

class Gap {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * Creates a prepared query. The query is built and compiled on first use, and later runs only bind other values,
 * because building a query takes several times as long as executing it. The query can be run on the database or in a
 * transaction. Everything that `build` decides, such as the columns and the number of values, stays fixed.
 */
export function prepared<V extends object, R>(
  build: (db: Kysely<Tables>, value: BoundValue<V>) => Compilable<R>,
): (db: Kysely<Tables>, values: V) => Promise<R[]> {
  let compiled: CompiledQuery<R> | undefined;
  return async (db, values) => {
    compiled ??= build(db, (name) => new Gap(name) as never).compile();
    const given = values as Record<string, unknown>;
    const parameters = compiled.parameters.map((one) => (one instanceof Gap ? given[one.name] : one));
    return (await db.executeQuery<R>({ ...compiled, parameters })).rows;
  };
}
