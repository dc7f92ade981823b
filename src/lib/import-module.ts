/**
 * Imports a module by a computed URL. The only `import()` of our own code that the bundler leaves as it is, and in a file of its own:
 * compiled code that contains one can't be stored.
 */
export function importModule<T>(url: URL): Promise<T> {
  return import(url.href) as Promise<T>;
}
