/**
 * Imports a module by a computed URL. This is the only `import()` in our code that the bundler leaves unchanged. It has
 * its own file, because compiled code with an `import()` can't be cached.
 */
export function importModule<T>(url: URL): Promise<T> {
  return import(url.href) as Promise<T>;
}
