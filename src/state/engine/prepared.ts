import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Stands in a query for a value that is there only when it runs. */
export type BoundValue<V> = <N extends keyof V & string>(name: N) => V[N];

class Gap {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A query that is asked with every run or request: it is built and compiled when it is first asked, then filled with other
 * values. To build one takes several times as long as SQLite takes to answer. It may be asked of any database or
 * transaction of the store. What is decided while it is built (which columns, how many values) is decided for good.
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
