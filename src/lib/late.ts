import { createRequire } from 'node:module';
import { toProblem } from './problem.ts';

/**
 * A package that is loaded when it is first asked for, for code that cannot wait for an `import()`. Loading is most of
 * what a short command does, so what few runs need must not cost all of them. Takes the `import.meta.url` of the module
 * that asks and a package's name; the type is the caller's promise: `late<typeof import('pino')>(…)`. The bundler does not
 * follow such a load, so the package must be in `dependencies`; the build fails if it is not. A package that is missing
 * is a Problem of the family `bug`: callers that turn errors into faults of a file pass Problems on.
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
