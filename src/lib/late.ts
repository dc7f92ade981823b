import { createRequire } from 'node:module';
import { toProblem } from './problem.ts';

/**
 * Loads a package synchronously on first use, for code that can't await an `import()`. Loading dominates the run time
 * of short commands, so rarely used packages are loaded only when needed. `from` is the caller's `import.meta.url`; the
 * caller must pass the right type: `late<typeof import('pino')>(…)`. The bundler doesn't follow such a load, so the
 * package must be in `dependencies`; otherwise the build fails. A missing package throws a Problem of family `bug`, so
 * callers that convert errors to config errors must rethrow Problems.
 */
export function late<T>(from: string, name: string): () => T {
  let loaded: T | undefined;
  return () => {
    loaded ??= load<T>(from, name);
    return loaded;
  };
}

function load<T>(from: string, name: string): T {
  try {
    return createRequire(from)(name) as T;
  } catch (thrown) {
    throw toProblem(thrown, { code: 'PACKAGE_THREW', family: 'bug' });
  }
}
