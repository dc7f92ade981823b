import { readdir } from 'node:fs/promises';
import type { Resource } from './endpoint.ts';

const folder = new URL('./resources/', import.meta.url);

/** Every resource of the service. The folder is the registry: every file in resources/ is a resource. */
export async function collectResources(): Promise<Resource[]> {
  const files = (await readdir(folder)).filter((file) => /^[a-z-]+\.[jt]s$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => ((await import(new URL(file, folder).href)) as { default: Resource }).default),
  );
}
