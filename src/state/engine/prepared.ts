import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Placeholder for a value that is bound when the query runs. */
export type BoundValue<V> = <N extends keyof V & string>(name: N) => V[N];

class Gap {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A prepared query: built and compiled on first use, then run again with other values, because building takes several
 * times as long as executing. It works on any database or transaction of the store. What `build` decides (which
 * columns, how many values) stays fixed.
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
