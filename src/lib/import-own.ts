import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Built files are CommonJS modules, which load in two thirds of the time that ES modules take. */
const isBuilt = import.meta.url.endsWith('.js');

/**
 * Imports one of our own files by a computed URL. Use this instead of `import()`, which loads Node's whole ES module
 * loader when running from the built package.
 */
export async function importOwn<T>(url: URL): Promise<T> {
  if (isBuilt) return createRequire(import.meta.url)(fileURLToPath(url)) as T;
  const { importModule } = await import('./import-module.ts');
  return importModule<T>(url);
}
