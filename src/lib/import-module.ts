/**
 * Imports a module by a computed URL. This is the only `import()` of our own code that the bundler leaves unchanged. It
 * has its own file, because compiled code that contains an `import()` can't be cached.
 */
export function importModule<T>(url: URL): Promise<T> {
  return import(url.href) as Promise<T>;
}
