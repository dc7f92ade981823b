import { createRequire } from 'node:module';

/**
 * A package that is loaded when it is first asked for, for code that cannot wait for an `import()`. Loading is most of
 * what a short command does, so what few runs need must not cost all of them. Takes the `import.meta.url` of the module
 * that asks and a package's name; the type is the caller's promise: `late<typeof import('pino')>(…)`.
 */
export function late<T>(from: string, name: string): () => T {
  let loaded: T | undefined;
  return () => {
    loaded ??= createRequire(from)(name) as T;
    return loaded;
  };
}
