import type { Compilable, CompiledQuery, DialectAdapter, Kysely } from 'kysely';
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
 * transaction; both have the same adapter. It's compiled once per adapter, because its text depends on the dialect and
 * the schema. Everything that `build` decides, such as the columns and the number of values, stays fixed.
 */
export function prepared<V extends object, R>(
  build: (db: Kysely<Tables>, value: BoundValue<V>) => Compilable<R>,
): (db: Kysely<Tables>, values: V) => Promise<R[]> {
  const byDatabase = new WeakMap<DialectAdapter, CompiledQuery<R>>();
  const compile = (db: Kysely<Tables>): CompiledQuery<R> => {
    const compiled = build(db, (name) => new Gap(name) as never).compile();
    byDatabase.set(db.getExecutor().adapter, compiled);
    return compiled;
  };
  return async (db, values) => {
    const compiled = byDatabase.get(db.getExecutor().adapter) ?? compile(db);
    const given = values as Record<string, unknown>;
    const parameters = compiled.parameters.map((one) => (one instanceof Gap ? given[one.name] : one));
    return (await db.executeQuery<R>({ ...compiled, parameters })).rows;
  };
}
