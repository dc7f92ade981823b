import type { KyselyPlugin } from 'kysely';
import type { Repository, StoreContext } from '../../src/state/engine/context.ts';

/** The repository's class with a counter of its statements, except compiled ones. */
export function countStatements<R extends Repository>(
  of: R,
): { readonly counted: R; readonly statements: () => number } {
  let statements = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const { context } = of as unknown as { readonly context: StoreContext };
  const Class = of.constructor as new (context: StoreContext) => R;
  return { counted: new Class({ ...context, db: context.db.withPlugin(counting) }), statements: () => statements };
}
